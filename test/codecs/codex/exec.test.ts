import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/codex/index.ts'
import type { AgentEvent } from '../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'

type Start = Parameters<BackDrive['start']>[1]

function started(args: readonly string[] | undefined = undefined, start?: Start): BackDrive {
  const process = { command: 'codex', env: {}, cwd: '/', ...(args && { args }) }
  const drive = driveBack(codec, { dialect: 'exec', process })
  drive.start('hi\nthere', start)
  return drive
}

const line = (value: object): string => JSON.stringify(value)
const item = (value: object, what = 'completed'): string => line({ type: `item.${what}`, item: { id: 'i', ...value } })
const bodies = (events: readonly AgentEvent[]): unknown[] => events.map(({ turn: _, ...event }) => event)
const ended = (drive: BackDrive): AgentEvent | undefined => drive.events.find(({ type }) => type === 'turn-end')

describe('the process of a turn', () => {
  test.each([
    [undefined, {}, ['exec', '--json', '-']],
    [['exec', '--json', '-s', 'read-only'], {}, ['exec', '--json', '-s', 'read-only', '-']],
    [['-c', 'a=1'], { session: { id: 's1', bound: 'th' } }, ['-c', 'a=1', 'exec', '--json', 'resume', 'th', '-']],
    [
      ['exec', '-m', 'old', '--model=older'],
      { options: { model: 'new', effort: 'high' } },
      ['exec', '--json', '--model', 'new', '-c', 'model_reasoning_effort="high"', '-'],
    ],
  ])('with the arguments %j, for %j', (args, start, used) => {
    const drive = started(args, start)
    expect(drive.calls).toEqual([{ kind: 'process', args: used, stdin: 'end' }])
    expect(drive.sent).toEqual(['hi\nthere'])
  })

  test('gets the prompt as text', () => {
    const drive = started(undefined, {
      options: { systemPrompt: 'Be nice.' },
      input: [
        { type: 'text', text: 'Look.' },
        { type: 'data', json: '{"a":1}' },
        { type: 'image', url: 'u' },
      ],
      ext: { protocol: 'other', json: '{}' },
    })
    expect(drive.sent).toEqual(['System instruction:\nBe nice.\n\nUser message:\nLook.\n{"a":1}'])
    expect(drive.losses.map(({ kind, item: lost }) => [kind, lost])).toEqual([
      ['dropped', 'ext'],
      ['weakened', 'part.data'],
      ['dropped', 'part.image'],
      ['weakened', 'option.systemPrompt'],
    ])
    const process = { command: 'codex', args: ['exec', '-m', 'm'], env: {}, cwd: '/' }
    const half = codec.dialects['exec']!.back!
    expect(half.configuredModel!({ options: {}, agent: 'a', env: {}, folder: '/', process })).toBe('m')
  })
})

describe('items', () => {
  test('are messages, plans and calls of tools', () => {
    const drive = started()
    drive.feed(
      line({ type: 'thread.started', thread_id: 'th' }),
      line({ type: 'turn.started' }),
      item({ type: 'reasoning', text: 'Hm.' }),
      item({ type: 'reasoning', text: '' }),
      item({ type: 'todo_list', items: [{ text: 'one', completed: true }, { text: 'two' }] }, 'started'),
      item({ type: 'agent_message', text: 'draft' }, 'updated'),
      item({ type: 'agent_message' }),
      item({ type: 'todo_list' }, 'updated'),
      item({ type: 'agent_message', text: 'Hello' }),
      item({ type: 'error', message: 'odd' }),
      item({ type: 'error' }),
    )
    expect(bodies(drive.events)).toEqual([
      { type: 'session-bound', agentSession: 'th' },
      { type: 'turn-started' },
      { type: 'message-start', message: 'b1', role: 'assistant' },
      { type: 'reasoning-delta', message: 'b1', text: 'Hm.' },
      {
        type: 'plan',
        json: '{"entries":[{"content":"one","status":"completed"},{"content":"two","status":"pending"}]}',
      },
      { type: 'plan', json: '{"entries":[]}' },
      { type: 'text-delta', message: 'b1', text: 'Hello' },
      { type: 'message-end', message: 'b1' },
      { type: 'notice', severity: 'warning', code: 'agent-warning', text: 'odd' },
      { type: 'notice', severity: 'warning', code: 'agent-warning', text: '' },
    ])
  })

  test.each([
    [
      { type: 'command_execution', command: 'ls', aggregated_output: 'a', status: 'completed' },
      { name: 'shell', args: '{"command":"ls"}' },
      { status: 'ok', parts: [{ type: 'text', text: 'a' }] },
    ],
    [
      { type: 'command_execution', command: 'ls', aggregated_output: '', status: 'declined' },
      { name: 'shell', args: '{"command":"ls"}' },
      { status: 'denied', parts: [] },
    ],
    [
      { type: 'file_change', changes: [], status: 'failed' },
      { name: 'apply_patch', args: '{"changes":[]}' },
      { status: 'error', parts: [] },
    ],
    [
      { type: 'web_search', query: 'q' },
      { name: 'web_search', args: '{"query":"q"}' },
      { status: 'ok', parts: [] },
    ],
    [
      {
        type: 'mcp_tool_call',
        server: 's',
        tool: 't',
        arguments: { n: 1 },
        result: { content: [{ type: 'text', text: 'x' }, { type: 'image' }] },
        error: null,
        status: 'completed',
      },
      { name: 'mcp__s__t', args: '{"n":1}' },
      {
        status: 'ok',
        parts: [
          { type: 'text', text: 'x' },
          { type: 'data', json: '{"type":"image"}' },
        ],
      },
    ],
    [
      { type: 'mcp_tool_call', server: 's', tool: 't', error: { message: 'no' }, status: 'failed' },
      { name: 'mcp__s__t', args: '{}' },
      { status: 'error', parts: [{ type: 'data', json: '{"message":"no"}' }] },
    ],
    [
      { type: 'collab_tool_call', tool: 'spawn', prompt: 'Go', agents_states: [1] },
      { name: 'spawn', args: '{"prompt":"Go"}' },
      { status: 'ok', parts: [{ type: 'data', json: '[1]' }] },
    ],
  ])('%j is the call %j with the result %j', (value, call, result) => {
    const drive = started()
    drive.feed(item(value, 'started'), item(value))
    expect(drive.events.slice(-3)).toMatchObject([
      { type: 'tool-start', tool: 'i', name: call.name },
      { type: 'tool-call', tool: 'i', ...call },
      { type: 'tool-end', tool: 'i', ...result },
    ])
  })

  test('that are unknown pass as they came; other lines are a loss', () => {
    const drive = started()
    drive.feed(item({ type: 'new' }), line({ type: 'new' }), '', 'noise', line({ type: 'error' }))
    expect(drive.events.map(({ type }) => type)).toEqual(['foreign', 'foreign'])
    expect(drive.losses).toMatchObject([
      { kind: 'unparsed', item: 'foreign' },
      { kind: 'unparsed', item: 'foreign' },
    ])
  })
})

describe('the end', () => {
  const usage = (input: number): object => ({ input_tokens: input, output_tokens: 2 })

  test('counts the turn itself, where the turn before is known', () => {
    const drive = started()
    drive.feed(
      line({ type: 'thread.started', thread_id: 'th' }),
      item({ type: 'agent_message', text: 'Hello' }),
      line({ type: 'turn.completed', usage: usage(10) }),
      line({ type: 'turn.started' }),
    )
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(bodies(drive.events).slice(-3)).toEqual([
      { type: 'usage', scope: 'session', usage: { input: 10, output: 2 } },
      { type: 'usage', scope: 'turn', usage: { input: 10, output: 2 } },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
    drive.start('again', { turn: 't2', session: { id: 's1', bound: 'th' } })
    drive.feed(line({ type: 'thread.started', thread_id: 'th' }), line({ type: 'turn.completed', usage: usage(25) }))
    expect(bodies(drive.events).slice(-4)).toEqual([
      expect.objectContaining({ type: 'notice', code: 'empty-answer' }),
      { type: 'usage', scope: 'session', usage: { input: 25, output: 2 } },
      { type: 'usage', scope: 'turn', usage: { input: 15, output: 0 } },
      { type: 'turn-end', outcome: 'completed', stop: 'end' },
    ])
    const resumed = started(undefined, { session: { id: 's1', bound: 'th' } })
    resumed.feed(line({ type: 'turn.completed', usage: usage(25) }))
    expect(resumed.events.filter(({ type }) => type === 'usage')).toMatchObject([{ scope: 'session' }])
    const odd = started()
    odd.feed(line({ type: 'turn.completed', usage: { input_tokens: 'x' } }))
    expect(odd.losses).toMatchObject([{ item: 'usage.input' }])
    const silent = started()
    silent.feed(line({ type: 'turn.completed' }))
    expect(silent.events.map(({ type }) => type)).toEqual(['notice', 'turn-end'])
  })

  test.each([
    ['failed', line({ type: 'turn.failed', error: { message: 'no' } })],
    ['has no counts', line({ type: 'turn.completed' })],
    ['was cancelled', undefined],
  ])('does not count a turn after one that %s', (_, end) => {
    const drive = started()
    const thread = line({ type: 'thread.started', thread_id: 'th' })
    const again = (turn: string): void => drive.start('again', { turn, session: { id: 's1', bound: 'th' } })
    drive.feed(thread, line({ type: 'turn.completed', usage: usage(10) }))
    again('t2')
    drive.feed(thread)
    if (end !== undefined) drive.feed(end)
    else {
      drive.link.encode({ type: 'turn-cancel', exchange: 'x', target: 'running' })
      drive.link.decodeEnd({ why: 'cancelled' })
    }
    for (const [turn, total] of [
      ['t3', 30],
      ['t4', 40],
    ] as const) {
      again(turn)
      drive.feed(thread, line({ type: 'turn.completed', usage: usage(total) }))
    }
    const counts = drive.events.flatMap((event) =>
      event.type === 'usage' && event.scope === 'turn' ? [[event.turn, event.usage.input]] : [],
    )
    expect(counts).toEqual([
      ['t1', 10],
      ['t4', 10],
    ])
  })

  test('an error that the agent overcomes is a notice', () => {
    const drive = started()
    drive.feed(
      line({ type: 'error', message: 'Reconnecting... 1/5' }),
      line({ type: 'error', message: 'Reconnecting... 2/5' }),
      line({ type: 'turn.completed', usage: {} }),
    )
    expect(drive.events.map((event) => ('text' in event ? event.text : event.type))).toEqual([
      'Reconnecting... 1/5',
      'The agent ended the turn without any text.',
      'Reconnecting... 2/5',
      'turn-end',
    ])
  })

  test.each([
    [[line({ type: 'turn.failed', error: { message: 'HTTP 429' } })], 'provider-rate-limit', 'HTTP 429'],
    [[line({ type: 'error', message: 'odd' }), line({ type: 'turn.failed' })], 'provider-error', 'odd'],
    [[line({ type: 'turn.failed' })], 'provider-error', 'The agent gave no reason.'],
    [[line({ type: 'error', message: 'not logged in' })], 'provider-auth', 'not logged in'],
    [[], 'agent-crashed', expect.stringContaining('exited with code 1')],
  ])('after %j is a failure: %s', (lines, code, message) => {
    const drive = started()
    drive.feed(...lines)
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(drive.events.filter(({ type }) => type === 'turn-end')).toMatchObject([
      { outcome: 'failed', stop: 'error', fault: { code, message } },
    ])
  })

  test('without the thread that it was to go on with lets the engine begin anew', () => {
    const drive = started(undefined, { session: { id: 's1', bound: 'gone' } })
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(ended(drive)).toMatchObject({ fault: { code: 'session-not-found', retry: 'fresh-session' } })
  })

  test('after a cancel is cancelled, whatever the agent says', () => {
    const drive = started()
    drive.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
    drive.feed(line({ type: 'turn.completed' }))
    expect(ended(drive)).toMatchObject({ outcome: 'cancelled' })
    drive.link.encode({ type: 'turn-cancel', exchange: 'x3', target: 'running' })
    drive.feed(line({ type: 'turn.started' }))
    const killed = started()
    killed.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })
    killed.link.decodeEnd({ why: 'closed', signal: 'SIGTERM' })
    expect(ended(killed)).toMatchObject({ outcome: 'cancelled' })
    const stopped = started()
    stopped.link.decodeEnd({ why: 'cancelled' })
    expect(ended(stopped)).toMatchObject({ outcome: 'cancelled' })
  })
})
