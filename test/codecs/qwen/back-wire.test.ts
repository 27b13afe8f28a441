import { describe, expect, test } from 'vitest'
import type { CommandOf } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'
import {
  chunk,
  codec,
  completion,
  ended,
  endsOf,
  event,
  feed,
  type Line,
  runningBack,
  sentLines,
  withoutTurn,
} from './kit.ts'

type Start = Partial<CommandOf<'turn-start'>>

/** The line that a turn is started with. */
const request = (text: string, more: Start = {}) => {
  const drive = driveBack(codec)
  drive.link.open!()
  drive.start(text, more)
  return { drive, line: sentLines(drive)[0]!, raw: String(drive.sent[0]) }
}

const input = (text: string) => ({ origin: 'user', parts: [{ type: 'text', text }], command: null })

describe('the process', () => {
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-chunk-json']

  test('is started once and is ready at once', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    expect(drive.calls).toEqual([{ kind: 'process', stdin: 'open', args: formats }])
    expect(drive.events).toEqual([{ turn: null, type: 'agent-ready' }])
    drive.start('hi')
    expect(drive.calls).toHaveLength(1)
  })

  test.each([
    [['cli.js'], {}, ['cli.js', ...formats]],
    [['--output-format=stream-json', 'x'], {}, ['--output-format=stream-json', 'x', '--input-format', 'stream-json']],
    [['-o', 'stream-json', '--input-format', 'text'], {}, ['-o', 'stream-json', '--input-format', 'text']],
    [[], { output: 'stream-json' }, ['--input-format', 'stream-json', '--output-format', 'stream-json']],
  ])('its arguments %j with %j', (args, options, expected) => {
    const process = { command: 'qwen', args, env: {}, cwd: '/' }
    const drive = driveBack(codec, { process, options })
    drive.link.open!()
    expect(drive.calls[0]).toHaveProperty('args', expected)
  })

  test('is started for every turn where the configuration says so', () => {
    const drive = driveBack(codec, { options: { lifetime: 'turn' } })
    expect(drive.link.open).toBeUndefined()
    drive.start('one')
    expect(drive.calls).toEqual([{ kind: 'process', stdin: 'end', args: formats }])
    feed(drive, [completion({ content: 'a' }, 'stop', { session_id: 'mine' })])
    drive.link.decodeEnd(ended)
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'completed', stop: 'end' }])
    drive.start('two', { turn: 't2' })
    expect(drive.calls).toHaveLength(2)
    expect(sentLines(drive)[1]).toMatchObject({ session_id: 'mine' })
  })

  test.each([
    ['no finish reason', completion({ content: 'a' }, null), ended, 'agent-crashed'],
    ['calls that wait', completion({ content: 'a' }, 'tool_calls'), ended, 'agent-crashed'],
    ['a code', completion({ content: 'a' }, 'stop'), { why: 'closed', exitCode: 1 }, 'agent-crashed'],
    ['a time limit', completion({ content: 'a' }, 'stop'), { why: 'timeout' }, 'timeout'],
    ['nothing at all', {}, ended, 'agent-crashed'],
  ] as const)('a process of one turn that ends with %s failed', (_name, line, end, code) => {
    const drive = driveBack(codec, { options: { lifetime: 'turn' } })
    drive.start('one')
    feed(drive, [line])
    drive.link.decodeEnd(end)
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'failed', fault: { code } }])
  })

  test('a process of a session whose input is open must tell its end', () => {
    const drive = runningBack()
    feed(drive, [completion({ content: 'a' }, 'stop')])
    drive.link.decodeEnd(ended)
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'failed', fault: { code: 'agent-crashed' } }])
    drive.start('again', { turn: 't2' })
    expect(endsOf(drive.events)[1]).toMatchObject({ turn: 't2', outcome: 'failed', fault: { code: 'agent-crashed' } })
    feed(drive, [event('Finished')])
    drive.link.encode({ type: 'foreign', exchange: 'x', protocol: 'qwen', frame: '{}' })
    expect(drive.sent).toEqual([])
  })

  test('a stopped process cancels its turn, also where nothing runs', () => {
    const drive = runningBack()
    drive.link.decodeEnd({ why: 'cancelled' })
    expect(endsOf(drive.events)).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'cancelled', stop: 'aborted' }])
    const idle = driveBack(codec)
    idle.link.decodeEnd({ why: 'cancelled' })
    expect(idle.events).toEqual([])
  })
})

describe('requests', () => {
  test('the first one asks for a new session, later ones name it', () => {
    const { drive, line } = request('hi', { options: { model: 'm', temperature: 0.5, tools: ['a', 'b'] } })
    expect(line).toEqual({
      session_id: '_new',
      prompt_id: 's1########1',
      model: 'm',
      input: input('hi'),
      options: { temperature: 0.5, tool_overrides: ['a', 'b'] },
    })
    feed(drive, [chunk({}, 'stop', { session_id: 'mine' })])
    expect(drive.events).toContainEqual({ turn: null, type: 'session-bound', agentSession: 'mine' })
    drive.start('again', { turn: 't2', request: 'p9' })
    expect(sentLines(drive)[1]).toEqual({ session_id: 'mine', prompt_id: 'p9', input: input('again') })
  })

  test('a session that is known from earlier, and one that is never told', () => {
    expect(request('hi', { session: { id: 's1', bound: 'old' } }).line).toMatchObject({
      session_id: 'old',
      prompt_id: 'old########1',
    })
    const { drive } = request('hi')
    feed(drive, [chunk({}, 'stop')])
    drive.start('again', { turn: 't2' })
    expect(sentLines(drive)[1]).toMatchObject({ session_id: 's1', prompt_id: 's1########2' })
    const { line } = request('hi', { session: {} })
    expect(line).toMatchObject({ session_id: '_new', prompt_id: 'turnpike########1' })
    const bare = driveBack(codec)
    const { session: _none, ...command } = { session: 1 }
    bare.link.encode({
      exchange: 'x',
      type: 'turn-start',
      turn: 't',
      task: 'prompt',
      input: [],
      options: {},
      ...command,
    })
    expect(sentLines(bare)[0]).toMatchObject({ session_id: '_new' })
  })

  test('a system prompt goes before the prompt until the agent knows it', () => {
    const options = { systemPrompt: 'Be brief.' }
    const text = 'System instruction:\nBe brief.\n\nUser message:\nhi'
    const { drive, line } = request('hi', { options })
    expect(line['input']).toEqual(input(text))
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 }])
    const next = (more: Start) => {
      feed(drive, [chunk({}, 'stop')])
      drive.start('hi', more)
      return sentLines(drive).at(-1)!['input']
    }
    expect(next({ turn: 't2', options })).toEqual(input('hi'))
    expect(next({ turn: 't3', task: 'compact', input: [] })).toEqual({
      origin: 'user',
      parts: [{ type: 'text', text: '' }],
      command: { kind: 'slash', path: ['compress'], args: '' },
    })
    expect(next({ turn: 't4', options })).toEqual(input(text))
  })

  test('a system prompt that a command has no room for goes before the next prompt, and again once all is forgotten', () => {
    const options = { systemPrompt: 'Be brief.' }
    const text = 'System instruction:\nBe brief.\n\nUser message:\nhi'
    const command = (path: string) => ({ invocation: { kind: 'slash', path: [path], args: '' } as const, options })
    const { drive, line } = request('/stats', command('stats'))
    expect((line['input'] as { parts: unknown }).parts).toEqual([{ type: 'text', text: '' }])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'option.systemPrompt', why: 'policy', count: 1 }])
    const next = (said: string, more: Start) => {
      feed(drive, [chunk({}, 'stop')])
      drive.start(said, more)
      return sentLines(drive).at(-1)!['input']
    }
    expect(next('hi', { turn: 't2', options })).toEqual(input(text))
    expect(next('hi', { turn: 't3', options })).toEqual(input('hi'))
    next('/clear', { turn: 't4', ...command('clear') })
    expect(next('hi', { turn: 't5', options })).toEqual(input(text))
  })

  test('commands are declared, with what comes beside their text', () => {
    const invocation = { kind: 'slash', path: ['chat', 'list'], args: 'a' } as const
    const file = { type: 'file', url: 'file:///a', mime: 'text/x' } as const
    const { line } = request('/chat list a', { invocation, input: [{ type: 'text', text: '/chat list a' }, file] })
    expect(line['input']).toEqual({
      origin: 'user',
      parts: [{ type: 'file_data', file_data: { file_uri: 'file:///a', mime_type: 'text/x' } }],
      command: { kind: 'slash', path: ['chat', 'list'], args: 'a' },
    })
  })

  test('the result of a tool names its call', () => {
    const reply = { type: 'tool-reply', tool: 'c', status: 'ok', parts: [{ type: 'text', text: 'r' }] } as const
    expect(request('', { input: [reply] }).line).toMatchObject({
      tool_call_id: 'c',
      input: {
        origin: 'tool_response',
        parts: [{ type: 'function_response', function_response: { id: 'c', response: { output: 'r' } } }],
      },
    })
  })

  test('what a client of this dialect said goes on as it came', () => {
    const json = '{"input":{"origin":"system","parts":[1.0]},"options":{"top_p":1e0},"continuation":true}'
    const { raw, drive } = request('x', { ext: { protocol: 'qwen', json } })
    expect(raw).toBe(
      '{"session_id":"_new","prompt_id":"s1########1","input":{"origin":"system","parts":[1.0]},"options":{"top_p":1e0},"continuation":true}',
    )
    expect(drive.losses).toEqual([])
    const system = request('x', { ext: { protocol: 'qwen', json }, options: { systemPrompt: 'S' } })
    expect(system.line['input']).toEqual(input('System instruction:\nS\n\nUser message:\nx'))
    expect(request('x', { ext: { protocol: 'zot', json } }).drive.losses).toEqual([
      { kind: 'dropped', item: 'ext', field: 'zot', why: 'no-place', count: 1 },
    ])
  })

  test('a transcript goes as an OpenAI body', () => {
    const { line, drive } = request('now', {
      options: { systemPrompt: 'S', temperature: 1, tools: ['a'], outputSchema: '{"type":"object"}' },
      history: [
        { role: 'user', parts: [{ type: 'text', text: 'before' }] },
        { role: 'assistant', parts: [{ type: 'tool-call', tool: 'c', name: 'n', args: '{"n":1.0}' }] },
        {
          role: 'tool',
          parts: [{ type: 'tool-reply', tool: 'c', status: 'error', parts: [{ type: 'text', text: 'r' }] }],
        },
      ],
    })
    expect(line).toEqual({
      session_id: '_new',
      prompt_id: 's1########1',
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'before' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'n', arguments: '{"n":1.0}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
        { role: 'user', content: 'now' },
      ],
      temperature: 1,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    })
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'option.tools', why: 'no-place', count: 1 },
      { kind: 'weakened', item: 'part.tool-reply', field: 'status', why: 'no-place', count: 1 },
    ])
    const ext = {
      protocol: 'qwen',
      json: '{"messages":[{"role":"user","name":"a"}],"response_format":{"type":"text"},"seed":1}',
    }
    expect(request('now', { history: [], ext }).raw).toContain(
      '"messages":[{"role":"user","name":"a"}],"response_format":{"type":"text"},"seed":1}',
    )
  })

  test('a schema of the answer has no place beside a prompt', () => {
    const { drive, line } = request('x', { options: { outputSchema: '{}' } })
    expect(line).not.toHaveProperty('response_format')
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'option.outputSchema', why: 'no-place', count: 1 }])
  })

  test('messages of the same protocol go on as they are, others do not', () => {
    const drive = runningBack()
    drive.link.encode({ type: 'foreign', exchange: 'x', protocol: 'qwen', frame: '{"a":1}' })
    drive.link.encode({ type: 'foreign', exchange: 'x', protocol: 'zot', frame: '{"b":1}' })
    expect(drive.sent).toEqual(['{"a":1}'])
  })
})

describe('cancel', () => {
  const cancel = { type: 'turn-cancel', exchange: 'x', target: { turn: 't1' } } as const

  test('the agent is told, and its own event ends the turn', () => {
    const drive = runningBack()
    drive.link.encode(cancel)
    expect(sentLines(drive)).toEqual([
      { type: 'control/cancel', session_id: '_new', prompt_id: 's1########1', reason: 'escape' },
    ])
    feed(drive, [
      { type: 'result/cancel', status: 'ok' },
      { type: 'control_response', request_id: 'r', response: { subtype: 'success' } },
    ])
    expect(drive.events).toEqual([])
    feed(drive, [completion({ content: 'par' }, null), event('USER_CANCELLED')])
    expect(withoutTurn(drive.events).slice(1)).toEqual([
      { type: 'message-end', message: 'b1', parts: [{ type: 'text', text: 'par' }] },
      { type: 'turn-end', outcome: 'cancelled', stop: 'aborted' },
    ])
  })

  test('an agent that knows of nothing to cancel has ended the turn', () => {
    const drive = runningBack()
    feed(drive, [{ type: 'result/cancel', status: 'noop', reason: 'r' }])
    expect(drive.events).toEqual([])
    drive.link.encode(cancel)
    feed(drive, [{ type: 'result/cancel', status: 'noop', reason: 'r' }])
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'cancelled' }])
    drive.link.encode(cancel)
    feed(drive, [{ type: 'result/cancel', status: 'noop' }])
    expect(drive.sent).toHaveLength(1)
  })

  test('a late word for an earlier turn is none for this one', () => {
    const drive = runningBack()
    drive.link.encode(cancel)
    feed(drive, [completion({ content: 'a' }, 'stop'), event('Finished')])
    drive.start('again', { turn: 't2' })
    drive.link.encode(cancel)
    const noop = (at: number) => ({
      type: 'result/cancel',
      status: 'noop',
      prompt_id: sentLines(drive)[at]!['prompt_id'],
    })
    feed(drive, [noop(0)])
    expect(endsOf(drive.events).map(({ turn }) => turn)).toEqual(['t1'])
    feed(drive, [noop(2)])
    expect(endsOf(drive.events).map(({ turn }) => turn)).toEqual(['t1', 't2'])
  })

  test('closed input takes no cancellation, yet what ends then is cancelled', () => {
    const drive = driveBack(codec, { options: { lifetime: 'turn' } })
    drive.start('x')
    drive.link.encode(cancel)
    expect(drive.sent).toHaveLength(1)
    feed(drive, [completion({ content: 'a' }, 'stop'), event('Finished')])
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'cancelled' }])
  })
})

describe('late lines', () => {
  test('those that name their turn are known by it', () => {
    const drive = runningBack({ request: 'p1' })
    feed(drive, [chunk({}, 'stop', { prompt_id: 'p1' })])
    drive.start('two', { turn: 't2', request: 'p2' })
    drive.events.length = 0
    feed(drive, [{ ...event('USER_CANCELLED'), prompt_id: 'p1' }, chunk({ content: 'old' }, null, { prompt_id: 'p1' })])
    expect(drive.events).toEqual([])
    feed(drive, [chunk({ content: 'new' }, null, { prompt_id: 'p2' }), { ...event('Finished'), prompt_id: 'p2' }])
    expect(endsOf(drive.events)).toMatchObject([{ turn: 't2', outcome: 'completed' }])
  })

  test('one that only can be the end of the turn before', () => {
    for (const late of [event('Finished'), chunk({}, 'stop')]) {
      const drive = runningBack()
      feed(drive, [chunk({ content: 'a' }, 'stop')])
      drive.start('two', { turn: 't2' })
      feed(drive, [late, chunk({ content: 'b' }), event('Finished')])
      expect(endsOf(drive.events)).toMatchObject([{ turn: 't1' }, { turn: 't2', outcome: 'completed' }])
      expect(drive.events.filter((one) => one.type === 'text-delta')).toMatchObject([{ text: 'a' }, { text: 'b' }])
    }
  })

  test('an end is not taken for one behind a completion of the turn that says nothing', () => {
    const drive = runningBack()
    feed(drive, [chunk({ content: 'a' }, 'stop')])
    drive.start('two', { turn: 't2' })
    feed(drive, [chunk({ role: 'assistant' }), chunk({}, 'stop')])
    expect(endsOf(drive.events)).toMatchObject([{ turn: 't1' }, { turn: 't2', outcome: 'completed' }])
  })

  test('one that came while nothing ran is not waited for', () => {
    const drive = runningBack()
    feed(drive, [chunk({ content: 'a' }, 'stop'), event('Finished')])
    drive.start('two', { turn: 't2' })
    feed(drive, [completion({ content: '' }, 'stop'), event('Finished')])
    expect(endsOf(drive.events)).toMatchObject([{ turn: 't1' }, { turn: 't2', outcome: 'completed' }])
  })

  test('only so many turns are remembered, and an id may come again', () => {
    const drive = runningBack({ request: 'p0' })
    for (let at = 0; at <= 101; at += 1) {
      feed(drive, [chunk({}, 'stop', { prompt_id: `p${at}` })])
      drive.start('x', { turn: `u${at}`, request: `p${at + 1}` })
    }
    feed(drive, [chunk({}, 'stop', { prompt_id: 'p0' })])
    expect(endsOf(drive.events)).toHaveLength(103)
    drive.start('x', { turn: 'again', request: 'p50' })
    feed(drive, [chunk({}, 'stop', { prompt_id: 'p50' })])
    expect(endsOf(drive.events).at(-1)).toMatchObject({ turn: 'again' })
  })
})

describe('while nothing runs', () => {
  test('notices, unknown messages and what nobody asked for belong to the session', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.events.length = 0
    feed(drive, [
      event('ChatCompressed', { message: 'm' }),
      event('Auth', { message: null, level: 'warning' }),
      { type: 'x-qwen-new' },
      chunk({ content: 'x' }),
      completion({ content: 'x' }, 'stop'),
      { type: 'control_response' },
      { type: 'result/heartbeat', status: 'error' },
      { type: 'result/heartbeat' },
      'noise',
    ])
    expect(drive.events).toEqual([
      {
        turn: null,
        type: 'notice',
        severity: 'info',
        code: 'chat-compressed',
        text: 'm',
        ext: { protocol: 'qwen', json: '{"event":"ChatCompressed"}' },
      },
      {
        turn: null,
        type: 'notice',
        severity: 'warning',
        code: 'auth',
        text: '',
        ext: { protocol: 'qwen', json: '{"event":"Auth"}' },
      },
      { turn: null, type: 'foreign', protocol: 'qwen', frame: '{"type":"x-qwen-new"}' },
      { turn: null, type: 'notice', severity: 'info', code: 'unasked-output', text: 'x\n\nx' },
    ])
    expect(drive.losses).toEqual([])
  })
})

describe('a turn that the agent began itself', () => {
  test('is one notice, and its late lines are not those of the next turn', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.events.length = 0
    const own = { prompt_id: 'own' }
    feed(drive, [chunk({ content: 'by myself' }, null, own), chunk({}, 'stop', own)])
    drive.start('hi', { request: 'p' })
    feed(drive, [chunk({ content: 'late' }, null, own), chunk({ content: 'mine' }), chunk({}, 'stop')])
    const texts = drive.events.flatMap((one) => ('text' in one ? [one.text] : []))
    expect(texts).toEqual(['by myself', 'mine'])
  })
})

describe('the end of the wire', () => {
  test.each([
    [{ type: 'system', subtype: 'init' }],
    [{ type: 'assistant', message: {} }],
    [{ type: 'control_request', request_id: '1', request: { subtype: 'can_use_tool' } }],
    [{ type: 'control_response', response: { request_id: '1' } }],
  ])('the other dialect, by %j', (line) => {
    const drive = runningBack()
    feed(drive, [line, event('Finished')])
    const message = 'The agent "agent" speaks the dialect of the shipped CLI: set protocol: qwen-code for it.'
    expect(drive.faults).toMatchObject([{ code: 'protocol-violation', message }])
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'failed', fault: { code: 'protocol-violation', message } }])
  })

  test('the shipped CLI, by how it refuses the format that only the RFC has', () => {
    const drive = runningBack()
    const stderr =
      'Invalid values:\n  Argument: output-format, Given: "stream-chunk-json", Choices: "text", "json", "stream-json"\n'
    drive.link.decodeEnd({ why: 'closed', exitCode: 1, stderr })
    const message = 'The agent "agent" speaks the dialect of the shipped CLI: set protocol: qwen-code for it.'
    expect(endsOf(drive.events)).toMatchObject([{ outcome: 'failed', fault: { code: 'protocol-violation', message } }])
  })

  test('another version, by metadata or fingerprint', () => {
    const version = '{"protocol_version":"2.0"}'
    for (const more of [
      { metadata: JSON.parse(version) },
      { system_fingerprint: version },
      { system_fingerprint: JSON.parse(version) },
    ]) {
      for (const line of [completion({ content: '' }, null, more), chunk({ role: 'assistant' }, null, more)]) {
        const drive = runningBack()
        feed(drive, [line])
        expect(endsOf(drive.events)).toMatchObject([{ outcome: 'failed', fault: { code: 'unsupported-version' } }])
        expect(drive.faults).toHaveLength(1)
      }
    }
    const fine = runningBack()
    for (const more of [
      { system_fingerprint: 'fp_1' },
      { metadata: { protocol_version: '1.9' } },
      { metadata: { protocol_version: 1 } },
    ]) {
      feed(fine, [completion({ content: '' }, null, more)])
    }
    expect(fine.events).toEqual([])
  })

  test('a fatal error, in a turn or not', () => {
    const error = { message: 'invalid tool input', type: 'invalid_request_error', param: 'tools[0]', code: 'QWEN_X' }
    const drive = runningBack()
    feed(drive, [{ error }])
    expect(endsOf(drive.events)).toEqual([
      {
        turn: 't1',
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: {
          code: 'invalid-request',
          message: 'invalid tool input',
          retryable: false,
          ext: { protocol: 'qwen', json: '{"code":"QWEN_X","param":"tools[0]"}' },
        },
      },
    ])
    expect(drive.faults).toHaveLength(1)
    const idle = driveBack(codec)
    feed(idle, [{ error: { type: 'odd', code: 1 } }])
    expect(idle.faults).toMatchObject([{ code: 'internal', ext: { json: '{"code":1,"type":"odd"}' } }])
  })
})

describe('questions', () => {
  const asked = (line: Line, lines: Line[] = []) => {
    const drive = runningBack()
    feed(drive, [...lines, { type: 'control_request', request_id: 'r1', ...line }])
    const events = withoutTurn(drive.events)
    return { drive, ask: events.at(-1) }
  }
  const options = [
    { id: 'approve', kind: 'allow', scope: 'once' },
    { id: 'deny', kind: 'deny', scope: 'once' },
  ]
  const reply = (drive: ReturnType<typeof runningBack>, answer: CommandOf<'ask-reply'>['reply'], ask = 'r1') => {
    drive.link.encode({ type: 'ask-reply', exchange: 'x', target: { turn: 't1' }, ask, reply: answer })
    return (sentLines(drive).at(-1) as { response?: unknown } | undefined)?.response
  }

  test('an approval in the shape of the example', () => {
    const tool = { name: 'edit_file', arguments: { path: 'main.py' } }
    const { ask } = asked({ subtype: 'can_use_tool', tool, metadata: { reason: 'apply_diff' } })
    expect(ask).toEqual({
      type: 'ask',
      ask: 'r1',
      question: {
        kind: 'approval',
        name: 'edit_file',
        args: '{"path":"main.py"}',
        description: 'apply_diff',
        options,
        editable: true,
      },
      ext: { protocol: 'qwen', json: '{"metadata":{"reason":"apply_diff"}}' },
    })
  })

  test('an approval in the shape of the table, with a tool that is known', () => {
    const call = completion({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'n' } }] }, 'tool_calls')
    const flat = {
      subtype: 'can_use_tool',
      payload: { tool_name: 'n', tool_use_id: 'c', input: { a: 1 }, reason: 'r' },
    }
    expect(asked(flat, [call]).ask).toEqual({
      type: 'ask',
      ask: 'r1',
      question: { kind: 'approval', tool: 'c', name: 'n', args: '{"a":1}', description: 'r', options, editable: true },
    })
    const nested = {
      subtype: 'can_use_tool',
      payload: { tool: { name: 'n', id: 'z' }, metadata: { description: 'd' } },
    }
    expect(asked(nested).ask).toMatchObject({ question: { name: 'n', args: '{}', description: 'd' } })
    expect(asked({ subtype: 'can_use_tool' }).ask).toMatchObject({ question: { name: 'tool', args: '{}', options } })
    expect(asked({ subtype: 'can_use_tool', tool: 1, metadata: null }).ask).toMatchObject({
      question: { name: 'tool' },
    })
  })

  test('choices of the agent keep their ids, and the chosen one is told', () => {
    const named = [
      { id: 'all', kind: 'allow', scope: 'always', label: 'Always' },
      { id: 'yes', kind: 'allow', scope: 'session' },
      { id: 'no', kind: 'deny', scope: 'odd' },
      { id: 'odd', kind: 'maybe' },
      { kind: 'allow' },
      7,
    ]
    const { drive, ask } = asked({ subtype: 'can_use_tool', tool: {}, metadata: { options: named } })
    expect(ask).toMatchObject({
      question: { options: [named[0], named[1], { id: 'no', kind: 'deny', scope: 'once' }] },
    })
    expect(reply(drive, { kind: 'approval', option: 'all', edited: '{"n":1.0}', message: 'm' })).toEqual({
      subtype: 'success',
      result: { behavior: 'approve', option: 'all', message: 'm', updated_arguments: { n: 1 } },
    })
    const onlyAllow = asked({ subtype: 'can_use_tool', metadata: { options: named.slice(0, 1) } })
    expect(onlyAllow.ask).toMatchObject({ question: { options } })
  })

  test('approve and deny are the words; a choice that is not there is a refusal', () => {
    for (const [option, behavior] of [
      ['approve', 'approve'],
      ['deny', 'deny'],
      ['what', 'deny'],
    ] as const) {
      const { drive } = asked({ subtype: 'can_use_tool', tool: {} })
      expect(reply(drive, { kind: 'approval', option })).toEqual({ subtype: 'success', result: { behavior } })
    }
  })

  test('hooks, MCP messages and what else an agent asks of its client', () => {
    const mcp = asked({ subtype: 'mcp_message', payload: { method: 'tools/list' } })
    expect(mcp.ask).toEqual({
      type: 'ask',
      ask: 'r1',
      question: { kind: 'client', method: 'mcp_message', params: '{"method":"tools/list"}' },
    })
    expect(reply(mcp.drive, { kind: 'client', result: '{"id":1.0}' })).toEqual({
      subtype: 'success',
      result: { mcp_response: { id: 1 } },
    })
    const hook = asked({ subtype: 'hook_callback', session_id: 's', hook: 1, metadata: {} })
    expect(hook.ask).toMatchObject({ question: { method: 'hook_callback', params: '{"hook":1,"metadata":{}}' } })
    expect(reply(asked({ subtype: 'x' }).drive, { kind: 'approval', option: 'approve' })).toMatchObject({
      result: { behavior: 'deny' },
    })
    expect(reply(hook.drive, { kind: 'client' })).toEqual({ subtype: 'success', result: null })
  })

  test('a refusal of the client', () => {
    const refusal = (error: string) => reply(asked({ subtype: 'hook_callback' }).drive, { kind: 'client', error })
    expect(refusal('{"message":"m"}')).toEqual({ subtype: 'error', error: { message: 'm', retryable: false } })
    expect(refusal('1')).toEqual({ subtype: 'error', error: { message: 'The client refused.', retryable: false } })
    expect(reply(asked({ subtype: 'x' }).drive, { kind: 'input', values: '{}' })).toMatchObject({ subtype: 'error' })
  })

  test('a question is answered once, and not when its turn is over', () => {
    const { drive } = asked({ subtype: 'can_use_tool' })
    reply(drive, { kind: 'approval', option: 'deny' })
    reply(drive, { kind: 'approval', option: 'deny' })
    expect(drive.sent).toHaveLength(1)
    feed(drive, [{ type: 'control_request', request_id: 'r2', subtype: 'can_use_tool' }, event('USER_CANCELLED')])
    reply(drive, { kind: 'approval', option: 'approve' }, 'r2')
    drive.link.encode({
      type: 'ask-reply',
      exchange: 'x',
      target: 'running',
      reply: { kind: 'approval', option: 'deny' },
    })
    expect(drive.sent).toHaveLength(1)
  })

  test('nobody to ask: outside of a turn, on closed input, without an id', () => {
    const idle = driveBack(codec)
    idle.link.open!()
    feed(idle, [{ type: 'control_request', request_id: 'r', subtype: 'can_use_tool' }])
    expect(sentLines(idle)).toEqual([
      {
        type: 'control_response',
        request_id: 'r',
        response: {
          subtype: 'error',
          error: { message: 'No turn is running: no client can be asked.', retryable: false },
        },
      },
    ])
    const closed = driveBack(codec, { options: { lifetime: 'turn' } })
    feed(closed, [{ type: 'control_request', request_id: 'r', subtype: 'can_use_tool' }])
    closed.start('x')
    feed(closed, [{ type: 'control_request', request_id: 'r', subtype: 'can_use_tool' }])
    expect(closed.sent).toHaveLength(1)
    expect(closed.losses).toEqual([{ kind: 'dropped', item: 'ask', why: 'no-place', count: 1 }])
    const { drive } = asked({ request_id: null, subtype: 'can_use_tool' })
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'ask', why: 'unknown', count: 1 }])
  })
})

describe('hints and heartbeats', () => {
  const query = (what: 'hints' | 'health' | 'state', exchange: string, args?: string) =>
    ({ type: 'query', what, exchange, session: { id: 's1' }, ...(args && { args }) }) as const
  const replies = (drive: ReturnType<typeof runningBack>) => drive.events.filter(({ type }) => type === 'command-reply')

  test('hints: what was typed goes out, what comes back is the answer', () => {
    const drive = runningBack()
    drive.link.encode(query('hints', 'q1', '{"trigger":"slash","text":"/c","cursor":2.0}'))
    drive.link.encode(query('hints', 'q2'))
    expect(drive.sent).toEqual([
      '{"type":"command_hint_request","session_id":"_new","prompt_id":"_new########preview-b1","trigger":"slash","text":"/c","cursor":2.0}',
      '{"type":"command_hint_request","session_id":"_new","prompt_id":"_new########preview-b2"}',
    ])
    const hint = (prompt: string, more: object) => ({
      type: 'result/command_hint',
      prompt_id: `_new########${prompt}`,
      ...more,
    })
    const suggestions = [{ label: 'chat', value: 'chat' }]
    feed(drive, [
      hint('preview-b1', { status: 'loading' }),
      hint('preview-b1', { status: 'ok', trigger: 'slash', suggestions, metadata: { is_perfect_match: false } }),
      hint('preview-b1', { status: 'ok' }),
      hint('preview-b2', { status: 'ok' }),
      { type: 'result/command_hint', status: 'ok' },
    ])
    expect(replies(drive)).toEqual([
      {
        turn: null,
        type: 'command-reply',
        exchange: 'q1',
        data: JSON.stringify({ suggestions }),
        ext: { protocol: 'qwen', json: '{"metadata":{"is_perfect_match":false}}' },
      },
      { turn: null, type: 'command-reply', exchange: 'q2', data: '{"suggestions":[]}' },
    ])
  })

  test('hints that fail', () => {
    const drive = runningBack()
    for (const [at, message] of [undefined, 'No.'].entries()) {
      drive.link.encode(query('hints', `q${at}`))
      feed(drive, [
        { type: 'result/command_hint', prompt_id: `_new########preview-b${at + 1}`, status: 'error', message },
      ])
    }
    expect(replies(drive)).toMatchObject([
      { fault: { code: 'internal', message: 'The agent has no hints for this.' } },
      { fault: { code: 'internal', message: 'No.' } },
    ])
  })

  test('a heartbeat answers all who wait', () => {
    const drive = runningBack()
    drive.link.encode(query('health', 'q1'))
    drive.link.encode(query('health', 'q2'))
    expect(sentLines(drive)[0]).toEqual({ type: 'heartbeat_request', session_id: '_new' })
    feed(drive, [{ type: 'result/heartbeat', session_id: '_new', status: 'ok', ts: 1, z: 1 }])
    drive.link.encode(query('health', 'q3'))
    feed(drive, [{ type: 'result/heartbeat', status: 'error' }])
    expect(drive.events).toMatchObject([
      { exchange: 'q1', data: '{"ok":true}', ext: { json: '{"z":1}' } },
      { exchange: 'q2', data: '{"ok":true}' },
      { exchange: 'q3', data: '{"ok":false}' },
    ])
  })

  test('a heartbeat that nobody asked for tells only of trouble', () => {
    const drive = runningBack()
    feed(drive, [
      { type: 'result/heartbeat', status: 'ok' },
      { type: 'result/heartbeat', status: 'error' },
      { type: 'result/heartbeat', status: 'error', message: 'Tired.' },
      { type: 'result/heartbeat', status: 1 },
    ])
    expect(withoutTurn(drive.events)).toEqual([
      { type: 'notice', severity: 'warning', code: 'agent-unhealthy', text: 'The agent says that it is not well.' },
      { type: 'notice', severity: 'warning', code: 'agent-unhealthy', text: 'Tired.' },
    ])
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'command-reply', why: 'unknown', count: 1 }])
  })

  test('what such an agent cannot do, and one that is gone', () => {
    const drive = runningBack()
    drive.link.encode(query('state', 'q1'))
    drive.link.encode({ type: 'session-clear', exchange: 'q2' })
    drive.link.encode(query('health', 'q3'))
    drive.link.encode(query('hints', 'q4'))
    drive.link.decodeEnd({ why: 'closed', exitCode: 3 })
    drive.link.encode(query('health', 'q5'))
    expect(replies(drive)).toMatchObject([
      { exchange: 'q1', fault: { code: 'invalid-request' } },
      { exchange: 'q2', fault: { code: 'invalid-request' } },
      { exchange: 'q4', fault: { code: 'agent-crashed' } },
      { exchange: 'q3', fault: { code: 'agent-crashed' } },
      { exchange: 'q5', fault: { code: 'agent-crashed' } },
    ])
  })
})
