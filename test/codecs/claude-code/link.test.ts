import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/claude-code/index.ts'
import type { Offers } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { type Claude, claude, greeted, running } from './kit.ts'

const FLAGS = [
  ...['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
  ...['--include-partial-messages', '--permission-prompt-tool', 'stdio'],
]
const processOf = (...args: string[]) => ({ process: { command: 'claude', args, env: {}, cwd: '/' } })
const userLine = (...content: object[]) => ({
  type: 'user',
  uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/) as unknown,
  session_id: '',
  message: { role: 'user', content },
  parent_tool_use_id: null,
})
const cancel = (agent: Claude): void => agent.link.encode({ type: 'turn-cancel', exchange: 'x2', target: 'running' })

describe('the process', () => {
  test('is started with what the configuration leaves out, and greeted', () => {
    const agent = claude(processOf('--print', '--model', 'opus'))
    expect(agent.calls).toEqual([
      { kind: 'process', stdin: 'open', args: ['--print', '--model', 'opus', ...FLAGS.slice(1)] },
    ])
    expect(agent.sentNow()).toEqual([
      { type: 'control_request', request_id: 'turnpike-b1', request: { subtype: 'initialize', hooks: null } },
    ])
    agent.answer('initialize')
    expect(agent.events).toEqual([{ turn: null, type: 'agent-ready' }])
    const half = codec.dialects['stream-json']!.back!
    expect(half.configuredModel!({ options: {}, agent: 'a', env: {}, folder: '/', ...processOf('--model', 'm') })).toBe(
      'm',
    )
  })

  test('goes on with the session that the gateway remembers', () => {
    expect(claude({}, 'old').calls).toMatchObject([{ args: [...FLAGS, '--resume', 'old'] }])
    expect(claude(processOf('--continue'), 'old').calls).toMatchObject([{ args: ['--continue', ...FLAGS] }])
  })

  test('that cannot go on with it is followed by a fresh one, and the engine begins anew', () => {
    const agent = claude({}, 'old')
    agent.start('hi', { session: { id: 's1', bound: 'old' } })
    agent.line({ type: 'result', subtype: 'error_during_execution', is_error: true, errors: ['No conversation found'] })
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(agent.of('turn-end')).toMatchObject([
      { outcome: 'failed', fault: { code: 'session-not-found', retry: 'fresh-session' } },
    ])
    expect(agent.calls).toMatchObject([{ args: [...FLAGS, '--resume', 'old'] }, { call: 'process-2', args: FLAGS }])
    agent.answer('initialize')
    agent.start('hi', { turn: 't2' })
    expect(agent.sentNow().at(-1)).toEqual(userLine({ type: 'text', text: 'hi' }))
    // The end of the process that was left is no news.
    agent.link.decodeEnd({ why: 'closed', exitCode: 0 })
    agent.feed('{"type":"result"}')
    expect(agent.of('turn-end')).toHaveLength(1)
  })

  test('that was lost while no turn ran says so to the next one', () => {
    const agent = claude({}, 'old')
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    agent.start('hi', { session: { id: 's1', bound: 'old' } })
    expect(agent.of('turn-end')).toMatchObject([{ fault: { code: 'session-not-found' } }])
    agent.start('hi', { turn: 't2', session: { id: 's1' } })
    expect(agent.of('turn-end')).toHaveLength(1)
  })

  test('is left for one in another session', () => {
    const agent = running()
    agent.result()
    agent.start('hi', { turn: 't2', session: { id: 's1', bound: 'other' } })
    expect(agent.ended).toEqual([undefined])
    expect(agent.calls.at(-1)).toMatchObject({ call: 'process-2', args: [...FLAGS, '--resume', 'other'] })
    agent.start('hi', { turn: 't3', session: { id: 's1', bound: 'third' } })
    expect(agent.ended).toEqual([undefined, 'process-2'])
  })

  test('is left for one with a copy of another session', () => {
    const agent = running()
    agent.result()
    agent.start('hi', { turn: 't2', session: { id: 's1', origin: 'other' } })
    expect(agent.calls.at(-1)).toMatchObject({ args: [...FLAGS, '--resume', 'other', '--fork-session'] })
    agent.link.decodeEnd({ why: 'closed', exitCode: 1, call: 'process-2' })
    expect(agent.of('turn-end').at(-1)).toMatchObject({ fault: { code: 'session-not-found', retry: 'fresh-session' } })
  })

  test('that works in the session of its arguments has no copy', () => {
    const agent = claude(processOf('--session-id', 'mine'))
    agent.start('hi', { session: { id: 's1', origin: 'other' } })
    expect(agent.of('turn-end')).toMatchObject([{ fault: { code: 'session-not-found' } }])
  })

  test('that refuses the handshake, or ends before it, is no agent', () => {
    const refusing = claude()
    refusing.start('hi')
    refusing.refuse('initialize', 'too old')
    expect(refusing.faults).toMatchObject([
      { code: 'agent-unavailable', message: 'The agent refused initialize: too old', retryable: false },
    ])
    expect(refusing.of('turn-end')).toMatchObject([{ outcome: 'failed', fault: { code: 'agent-unavailable' } }])
    const ending = claude()
    ending.start('hi')
    ending.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(ending.of('turn-end')[0]!.fault!.message).toContain('ended before it answered initialize')
    ending.start('hi', { turn: 't2' })
    expect(ending.of('turn-end').at(-1)).toMatchObject({ turn: 't2', outcome: 'failed' })
  })
})

describe('a prompt', () => {
  test('has texts, images and documents', () => {
    const agent = greeted()
    agent.sentNow()
    agent.start('', {
      input: [
        { type: 'text', text: 'look' },
        { type: 'data', json: '{"a":1}' },
        { type: 'image', base64: 'AAAA' },
        { type: 'image', url: 'https://x/y.png' },
        { type: 'file', base64: 'BBBB', mime: 'application/pdf' },
        { type: 'file', base64: 'BBBB' },
        { type: 'file', ref: 'r' },
        { type: 'audio', url: 'u' },
      ],
    })
    expect(agent.sentNow()).toEqual([
      userLine(
        { type: 'text', text: 'look' },
        { type: 'text', text: '{"a":1}' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
      ),
    ])
    expect(agent.losses.map(({ kind, item }) => [kind, item])).toEqual([
      ['weakened', 'part.data'],
      ['dropped', 'part.file'],
      ['dropped', 'part.audio'],
    ])
  })

  test.each([
    [{ input: [], invocation: { kind: 'slash', path: ['review'], args: 'all' } }, '/review all'],
    [{ task: 'compact', input: [] }, '/compact'],
    [{ input: [] }, ''],
  ] as const)('%j is the text %j', (start, text) => {
    const agent = greeted()
    agent.sentNow()
    agent.start('', start)
    expect(agent.sentNow()).toEqual([userLine({ type: 'text', text })])
  })

  test('has the system prompt before it, once', () => {
    const agent = greeted()
    agent.sentNow()
    const options = { systemPrompt: 'Be nice.' }
    agent.start('hi', { options, ext: { protocol: 'claude-code', json: '{"priority":"now"}' } })
    const text = 'System instruction:\nBe nice.\n\nUser message:\nhi'
    expect(agent.sentNow()).toEqual([{ ...userLine({ type: 'text', text }), priority: 'now' }])
    expect(agent.losses).toMatchObject([{ kind: 'weakened', item: 'option.systemPrompt' }])
    agent.init()
    agent.result()
    agent.start('again', { turn: 't2', options, ext: { protocol: 'other', json: '{}' } })
    expect(agent.sentNow()).toEqual([userLine({ type: 'text', text: 'again' })])
    expect(agent.losses.at(-1)).toMatchObject({ item: 'ext', field: 'other' })
    agent.result()
    agent.start('', { turn: 't3', input: [{ type: 'image', url: 'u' }], options: { systemPrompt: 'Be rude.' } })
    expect(agent.sentNow()[0]!.message!.content).toMatchObject([
      { type: 'text', text: 'System instruction:\nBe rude.\n\nUser message:\n' },
      { type: 'image' },
    ])
  })

  test('waits until its model is set; the next one has the own model again', () => {
    const agent = greeted()
    agent.sentNow()
    agent.start('hi', { options: { model: 'haiku' } })
    expect(agent.sentNow()).toMatchObject([{ request: { subtype: 'set_model', model: 'haiku' } }])
    agent.answer('set_model')
    expect(agent.sentNow()).toMatchObject([{ type: 'user' }])
    agent.init()
    agent.result()
    agent.start('again', { turn: 't2' })
    expect(agent.sentNow()).toMatchObject([{ request: { subtype: 'set_model', model: null } }])
    agent.refuse('set_model', 'No such model')
    expect(agent.losses).toMatchObject([{ kind: 'dropped', item: 'option.model' }])
    expect(agent.of('notice').at(-1)).toMatchObject({
      code: 'model-refused',
      text: 'No such model; the agent goes on with its own model.',
    })
    expect(agent.sentNow()).toMatchObject([{ type: 'user' }])
  })

  test('that is cancelled while its model is set is not sent', () => {
    const agent = greeted()
    agent.start('hi', { options: { model: 'haiku' } })
    cancel(agent)
    agent.answer('set_model')
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
    agent.start('next', { turn: 't2', options: { model: 'haiku' } })
    expect(agent.sentNow().filter(({ type }) => type === 'user')).toHaveLength(0)
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(agent.of('turn-end').at(-1)).toMatchObject({ turn: 't2', outcome: 'failed' })
  })
})

describe('a turn that runs', () => {
  test('is interrupted once', () => {
    const agent = running()
    cancel(agent)
    cancel(agent)
    expect(agent.sentNow()).toMatchObject([{ request: { subtype: 'interrupt' } }])
    agent.answer('interrupt')
    agent.result({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled', stop: 'aborted' }])
    cancel(agent)
    expect(agent.sentNow()).toEqual([])
  })

  test('is cancelled by the engine, which ends the process', () => {
    const agent = running()
    agent.link.decodeEnd({ why: 'cancelled' })
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
  })

  test('that was cancelled before the agent was ready never begins', () => {
    const agent = claude()
    agent.start('hi')
    cancel(agent)
    agent.answer('initialize')
    expect(agent.of('turn-end')).toMatchObject([{ outcome: 'cancelled' }])
    expect(agent.sentNow()).toHaveLength(1)
  })
})

describe('commands outside of turns', () => {
  const reply = (agent: Claude) => agent.of('command-reply' as never).at(-1) as unknown

  test('set model and mode', () => {
    const agent = greeted()
    agent.link.encode({ type: 'config-set', exchange: 'c1', mode: 'plan', model: 'haiku' })
    agent.answer('set_permission_mode', { mode: 'plan' })
    agent.answer('set_model')
    expect(reply(agent)).toEqual({ turn: null, type: 'command-reply', exchange: 'c1' })
    agent.sentNow()
    agent.start('hi')
    expect(agent.sentNow()).toMatchObject([{ type: 'user' }])
    agent.link.encode({ type: 'config-set', exchange: 'c2', mode: 'default' })
    agent.answer('set_permission_mode')
    expect(reply(agent)).toMatchObject({ exchange: 'c2' })
  })

  test('may be refused, or lose their process', () => {
    const agent = greeted()
    agent.link.encode({ type: 'config-set', exchange: 'c1', mode: 'odd' })
    agent.refuse('set_permission_mode', 'no such mode')
    expect(reply(agent)).toMatchObject({ fault: { code: 'invalid-request', message: 'no such mode' } })
    agent.link.encode({ type: 'config-set', exchange: 'c2', effort: 'high' })
    expect(reply(agent)).toMatchObject({ exchange: 'c2', fault: { code: 'invalid-request' } })
    agent.link.encode({ type: 'config-set', exchange: 'c3', option: { id: 'a', value: true } })
    expect(reply(agent)).toMatchObject({ exchange: 'c3', fault: { code: 'invalid-request' } })
    agent.link.encode({ type: 'config-set', exchange: 'c4', model: 'haiku' })
    agent.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(reply(agent)).toMatchObject({ exchange: 'c4', fault: { code: 'agent-crashed' } })
    agent.link.encode({ type: 'query', exchange: 'c5', what: 'models' })
    expect(reply(agent)).toMatchObject({ exchange: 'c5', fault: { code: 'agent-crashed' } })
  })

  test('that wait for a process that is left are told so', () => {
    const agent = running()
    agent.result()
    agent.link.encode({ type: 'config-set', exchange: 'c1', model: 'haiku' })
    agent.start('hi', { turn: 't2', session: { id: 's1', bound: 'other' } })
    expect(reply(agent)).toMatchObject({ exchange: 'c1', fault: { code: 'agent-crashed' } })
  })

  const MODELS = [{ value: 'default', displayName: 'Default', description: 'The best' }, { value: 'haiku' }]
  const offers = (agent: Claude): Offers => {
    agent.link.encode({ type: 'query', exchange: 'o', what: 'offers' })
    const event = agent.events.at(-1)
    return JSON.parse((event?.type === 'command-reply' && event.data) || '{}')
  }

  test('ask for what the agent offers: modes, its model and its commands', () => {
    const agent = claude()
    const commands = [{ name: 'init', description: 'Begins', argumentHint: '[folder]' }, { name: 'compact' }, 7]
    agent.answer('initialize', { models: [...MODELS, 'odd'], commands, current_permission_mode: 'plan' })
    expect(offers(agent)).toEqual({
      mode: 'plan',
      modes: [
        { id: 'default', name: 'Default', description: 'Asks before it edits files and runs commands' },
        { id: 'acceptEdits', name: 'Accept edits', description: 'Edits files without asking' },
        { id: 'plan', name: 'Plan', description: 'Reads and plans, and changes nothing' },
      ],
      options: [
        {
          id: 'model',
          name: 'Model',
          category: 'model',
          type: 'select',
          value: 'default',
          choices: [{ value: 'default', name: 'Default', description: 'The best' }, { value: 'haiku' }],
        },
      ],
      commands: [{ name: 'init', description: 'Begins', hint: '[folder]' }, { name: 'compact' }],
    })
    agent.link.encode({ type: 'config-set', exchange: 'c', mode: 'default', option: { id: 'model', value: 'haiku' } })
    agent.answer('set_permission_mode')
    agent.answer('set_model')
    expect(offers(agent)).toMatchObject({ mode: 'default', options: [{ value: 'haiku' }] })
  })

  test.each([[{}], [7], [{ models: 7, commands: {}, current_permission_mode: 7 }]])(
    'offer little where the agent says little: %j',
    (greeting) => {
      const agent = claude()
      agent.answer('initialize', greeting as object)
      expect(offers(agent)).toMatchObject({ mode: 'default', options: [], commands: [] })
    },
  )

  test('offer the mode that the agent is in', () => {
    const agent = claude()
    agent.answer('initialize', { current_permission_mode: 'auto' })
    expect(offers(agent)).toMatchObject({ mode: 'auto', modes: [{}, {}, {}, { id: 'auto' }] })
  })

  test('ask for the models of the greeting', () => {
    const agent = greeted()
    agent.link.encode({ type: 'query', exchange: 'c1', what: 'models' })
    expect(reply(agent)).toMatchObject({ data: '{"models":[{"id":"default"},{"id":"haiku"}]}' })
    agent.link.encode({ type: 'query', exchange: 'c2', what: 'state' })
    expect(reply(agent)).toMatchObject({ exchange: 'c2', fault: { code: 'invalid-request' } })
    const odd = claude()
    odd.answer('initialize', { models: 7 })
    odd.link.encode({ type: 'query', exchange: 'c1', what: 'models' })
    expect(reply(odd)).toMatchObject({ fault: { code: 'invalid-request' } })
    const none = claude()
    none.answer('initialize')
    none.link.encode({ type: 'query', exchange: 'c1', what: 'models' })
    none.link.encode({ type: 'session-close', exchange: 'c2' })
    expect(reply(none)).toMatchObject({ exchange: 'c1', fault: { code: 'invalid-request' } })
  })
})

describe('the wire', () => {
  test('what is no message is a loss; unknown lines pass as they came', () => {
    const agent = running()
    agent.feed('noise', '  ')
    agent.line({ type: 'control_response', response: {} })
    agent.line({ type: 'control_response', response: { request_id: 'other', subtype: 'success' } })
    agent.system('init', { session_id: 7 })
    agent.line({ type: 'keep_alive' })
    expect(agent.losses.map(({ item }) => item)).toEqual(['foreign', 'command-reply', 'command-reply', 'turn-started'])
    agent.line({ type: 'rate_limit_event' })
    agent.system('task_started')
    expect(agent.of('foreign')).toHaveLength(2)
    const idle = greeted()
    idle.feed('noise')
    idle.system('session_state_changed')
    idle.line({ type: 'result' })
    expect(idle.losses).toEqual([])
    expect(idle.events.at(-1)).toMatchObject({ turn: null, type: 'foreign' })
  })

  test('of a recorded agent needs no handshake', () => {
    for (const recorded of ['agent', 'both'] as const) {
      const drive = driveBack(codec, { recorded })
      drive.start('hi', { session: { id: 's1', bound: 'x' } })
      expect(drive.sent).toEqual([])
      drive.feed(
        '{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{}}}',
        '{"type":"system","subtype":"init","session_id":"s"}',
        '{"type":"result","subtype":"success","result":"Hello"}',
      )
      expect(drive.events.map(({ type }) => type)).toEqual([
        ...(recorded === 'agent' ? ['foreign'] : []),
        'session-bound',
        'turn-started',
        'message-start',
        'text-delta',
        'message-end',
        'turn-end',
      ])
    }
  })
})

describe('a turn that the agent begins itself', () => {
  test('leaves one alone that was cancelled meanwhile', () => {
    const agent = running()
    agent.result()
    agent.init()
    agent.start('again', { turn: 't2' })
    cancel(agent)
    agent.result({ result: 'Done.' })
    expect(agent.sentNow()).toEqual([])
    expect(agent.of('turn-end').at(-1)).toMatchObject({ turn: 't2', outcome: 'cancelled' })
  })

  test('is a notice without a turn, and the next turn waits for its end', () => {
    const agent = running()
    agent.result()
    agent.init()
    agent.line({ type: 'assistant', message: { id: 'm', content: [{ type: 'text', text: 'The build is green.' }] } })
    agent.start('again', { turn: 't2' })
    expect(agent.sentNow()).toEqual([])
    agent.result()
    expect(agent.events.at(-1)).toMatchObject({ turn: null, code: 'unasked-output', text: 'The build is green.' })
    expect(agent.sentNow()).toMatchObject([{ type: 'user' }])
  })
})
