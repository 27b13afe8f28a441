import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/zot/index.ts'
import { type Command, fault } from '../../../src/model/index.ts'
import { driveBack } from '../../kit/drive.ts'
import { answer, ended, readyBack, response, runningBack, sentId, sentLines } from './kit.ts'

const process = { command: 'zot', env: {}, cwd: '/work' }

describe('the start of a zot agent', () => {
  test('the process runs `rpc` unless the configuration has arguments, and hello comes first', () => {
    const drive = driveBack(codec, { process })
    drive.link.open!()
    expect(drive.calls).toEqual([{ kind: 'process', stdin: 'open', args: ['rpc'], env: { ZOTCORE_RPC_TOKEN: '' } }])
    expect(drive.sent).toEqual(['{"type":"hello","id":"b1"}'])
    const configured = driveBack(codec, { process: { ...process, args: ['rpc', '--provider', 'openai'] } })
    configured.link.open!()
    expect(configured.calls).toEqual([{ kind: 'process', stdin: 'open', env: { ZOTCORE_RPC_TOKEN: '' } }])
  })

  test('the token goes into hello and into the environment, itself or from a variable', () => {
    for (const token of ['s3cret', { env: 'ZOT_TOKEN' }]) {
      const drive = driveBack(codec, { options: { token }, env: { ZOT_TOKEN: 's3cret' } })
      drive.link.open!()
      expect(drive.calls).toEqual([
        { kind: 'process', stdin: 'open', args: ['rpc'], env: { ZOTCORE_RPC_TOKEN: 's3cret' } },
      ])
      expect(drive.sent).toEqual(['{"type":"hello","id":"b1","token":"s3cret"}'])
    }
  })

  test('a token from a variable that is not set starts nothing', () => {
    const drive = driveBack(codec, { options: { token: { env: 'ZOT_TOKEN' } } })
    drive.link.open!()
    const reason = fault(
      'agent-unavailable',
      'The token of agent "agent" is to come from the environment variable ZOT_TOKEN, which is not set: set it for the gateway, or remove `token`.',
      { retryable: false },
    )
    expect([drive.calls, drive.sent, drive.faults]).toEqual([[], [], [reason]])
    drive.start('hi')
    expect(drive.events).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'failed', stop: 'error', fault: reason }])
  })

  test('its answer makes the agent ready', () => {
    const drive = readyBack()
    const json = '{"protocol_version":1,"version":"0.1.62","provider":"openai","model":"gpt-4.1"}'
    expect(drive.events).toEqual([{ turn: null, type: 'agent-ready', model: 'gpt-4.1', version: '0.1.62', json }])
    const bare = driveBack(codec)
    bare.link.open!()
    answer(bare, 'hello', { data: { protocol_version: 1 } })
    expect(bare.events).toEqual([{ turn: null, type: 'agent-ready', json: '{"protocol_version":1}' }])
  })

  test.each([
    [
      { success: false, error: 'invalid token' },
      'agent-unavailable',
      'The zot agent "agent" refused hello: check `token` in its configuration.',
    ],
    [
      { data: { protocol_version: 2 } },
      'unsupported-version',
      'The zot agent "agent" does not speak protocol version 1: install a version of zot that does.',
    ],
    [
      {},
      'unsupported-version',
      'The zot agent "agent" does not speak protocol version 1: install a version of zot that does.',
    ],
  ] as const)('an answer that is none breaks the link: %j', (more, code, message) => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    answer(drive, 'hello', more)
    const reason = fault(code, message, { retryable: false })
    expect(drive.faults).toEqual([reason])
    expect(drive.events).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'failed', stop: 'error', fault: reason }])
    expect(sentLines(drive).map((line) => line['type'])).toEqual(['hello'])
  })

  test('what is asked before hello is answered waits for it', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.link.encode({ exchange: 'x2', type: 'query', what: 'health' })
    drive.link.encode({ exchange: 'x3', type: 'foreign', protocol: 'zot', frame: '{"type":"reload_ext"}' })
    drive.link.encode({ exchange: 'x4', type: 'foreign', protocol: 'qwen', frame: '{}' })
    expect(drive.sent).toHaveLength(1)
    answer(drive, 'hello', { data: { protocol_version: 1 } })
    expect(sentLines(drive).map((line) => line['type'])).toEqual(['hello', 'prompt', 'ping', 'reload_ext'])
  })

  test('an agent that ends before hello is a matter of its configuration', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    drive.link.encode({ exchange: 'x2', type: 'query', what: 'health' })
    drive.link.encode({ exchange: 'x3', type: 'foreign', protocol: 'zot', frame: '{}' })
    drive.link.decodeEnd({ why: 'closed', exitCode: 1, stderr: 'no credential: sk-secret' })
    const reason = fault(
      'agent-unavailable',
      'The zot agent "agent" ended before it answered hello: check its arguments and its credentials (its stderr is in the gateway log).',
      { retryable: false },
    )
    expect(drive.events).toEqual([
      { turn: 't1', type: 'turn-end', outcome: 'failed', stop: 'error', fault: reason },
      { turn: null, type: 'command-reply', exchange: 'x2', fault: reason },
    ])
    expect(drive.sent).toHaveLength(1)
  })

  test('one that cannot be started says so', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    drive.start('hi')
    const reason = fault('agent-unavailable', 'zot: not found')
    drive.link.decodeEnd({ why: 'failed', fault: reason })
    expect(drive.events).toEqual([{ turn: 't1', type: 'turn-end', outcome: 'failed', stop: 'error', fault: reason }])
  })
})

describe('the order of the wire', () => {
  test('a prompt that already speaks runs, whatever became of its response', () => {
    const drive = readyBack()
    drive.start('hi')
    drive.feed('{"type":"error","message":"of another"}', '{"type":"done"}')
    drive.feed('{"type":"turn_start","step":1}')
    answer(drive, 'prompt')
    expect(drive.events.slice(1)).toEqual([
      { turn: null, type: 'notice', severity: 'error', code: 'agent-error', text: 'of another' },
      { turn: 't1', type: 'turn-started' },
      { turn: 't1', type: 'step-start', step: 1 },
    ])
  })

  test('text may be the first that it says', () => {
    const drive = readyBack()
    drive.start('hi')
    drive.feed('{"type":"text_delta","delta":"a"}')
    expect(drive.events.slice(1)).toEqual([
      { turn: 't1', type: 'turn-started' },
      { turn: 't1', type: 'message-start', message: 'b3', role: 'assistant' },
      { turn: 't1', type: 'text-delta', message: 'b3', text: 'a' },
    ])
  })

  test('a late response of a turn that is over changes nothing', () => {
    const drive = readyBack()
    drive.start('hi')
    drive.feed('{"type":"turn_start","step":1}', '{"type":"done"}')
    const count = drive.events.length
    answer(drive, 'prompt', { success: false })
    expect(drive.events).toHaveLength(count)
  })

  test("lines outside any turn that mean nothing are nobody's loss", () => {
    const drive = readyBack()
    drive.feed('noise', '{"type":"response","id":"?","success":true}')
    drive.link.encode({ exchange: 'x', type: 'turn-cancel', target: 'running' })
    expect([drive.losses, drive.events.length, drive.sent.length]).toEqual([[], 1, 1])
  })
})

describe('the model', () => {
  test('another model is set before the prompt, once', () => {
    const drive = readyBack()
    drive.start('hi', { options: { model: 'gpt-4.1' } })
    expect(sentLines(drive).at(-1)!['type']).toBe('prompt')
    answer(drive, 'prompt')
    drive.feed('{"type":"done"}')
    drive.start('hi', { turn: 't2', options: { model: 'gpt-4o' } })
    expect(sentLines(drive).at(-1)).toMatchObject({ type: 'set_model', model: 'gpt-4o' })
    answer(drive, 'set_model', { data: { model: 'gpt-4o' } })
    expect(sentLines(drive).at(-1)!['type']).toBe('prompt')
    answer(drive, 'prompt')
    drive.feed('{"type":"done"}')
    drive.start('hi', { turn: 't3', options: { model: 'gpt-4o' } })
    expect(sentLines(drive).filter((line) => line['type'] === 'set_model')).toHaveLength(1)
  })

  test('a prompt that names none has the one of the session again', () => {
    const drive = readyBack()
    const models = () => sentLines(drive).flatMap(({ type, model }) => (type === 'set_model' ? [model] : []))
    const run = (turn: string, model?: string) => {
      drive.start('hi', { turn, options: model === undefined ? {} : { model } })
      if (sentLines(drive).at(-1)!['type'] === 'set_model') answer(drive, 'set_model')
      answer(drive, 'prompt')
      drive.feed('{"type":"done"}')
    }
    run('t1', 'gpt-4o')
    run('t2')
    run('t3')
    expect(models()).toEqual(['gpt-4o', 'gpt-4.1'])
    drive.link.encode({ exchange: 'x9', type: 'config-set', model: 'o3' })
    answer(drive, 'set_model')
    run('t4')
    run('t5', 'gpt-4o')
    run('t6')
    expect(models()).toEqual(['gpt-4o', 'gpt-4.1', 'o3', 'gpt-4o', 'o3'])
  })

  test('behind a cancelled prompt it is set again, whatever that one was about to set', () => {
    const drive = readyBack()
    drive.start('hi', { options: { model: 'gpt-4o' } })
    const first = sentId(drive, 'set_model')
    drive.link.encode({ exchange: 'c', type: 'turn-cancel', target: 'running' })
    drive.start('hi', { turn: 't2', options: { model: 'gpt-4.1' } })
    expect(sentLines(drive).at(-1)).toMatchObject({ type: 'set_model', model: 'gpt-4.1' })
    drive.feed(response(first, 'set_model', { data: { model: 'gpt-4o' } }))
    answer(drive, 'set_model', { success: false, error: 'no' })
    const text = 'no; the agent goes on with "gpt-4o".'
    expect(drive.events.at(-1)).toMatchObject({ turn: 't2', code: 'model-refused', text })
  })

  test('one that the agent does not know is a loss and a notice; the prompt runs', () => {
    const drive = readyBack()
    drive.start('hi', { options: { model: 'nope' } })
    answer(drive, 'set_model', { success: false, error: 'unknown model "nope"' })
    expect(sentLines(drive).at(-1)!['type']).toBe('prompt')
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'option.model', why: 'unknown', count: 1 }])
    const text = 'unknown model "nope"; the agent goes on with "gpt-4.1".'
    expect(drive.events.slice(1)).toEqual([
      { turn: 't1', type: 'notice', severity: 'warning', code: 'model-refused', text },
    ])
  })

  test('a refusal without a reason, of an agent that never named its own', () => {
    const drive = driveBack(codec)
    drive.link.open!()
    answer(drive, 'hello', { data: { protocol_version: 1 } })
    drive.start('hi', { options: { model: 'nope' } })
    answer(drive, 'set_model', { success: false })
    const text = 'The agent does not take the model "nope"; the agent goes on with its own model.'
    expect(drive.events.at(-1)).toMatchObject({ type: 'notice', code: 'model-refused', text })
  })

  test('the process may end while it is set', () => {
    const drive = readyBack()
    drive.start('hi', { options: { model: 'nope' } })
    drive.link.decodeEnd(ended)
    expect(drive.events.slice(1).map((event) => event.type)).toEqual(['turn-end'])
  })
})

describe('what is answered with one reply', () => {
  /** The reply to one command when the agent answers like this. */
  const ask = (command: object, type: string, more: object): object => {
    const drive = readyBack()
    drive.link.encode({ exchange: 'x1', session: { id: 's1' }, ...command } as Command)
    answer(drive, type, more as Record<string, unknown>)
    const { turn: _turn, type: _type, exchange: _exchange, ...reply } = drive.events[1] as Record<string, unknown>
    return reply
  }
  const query = (what: string): object => ({ type: 'query', what })
  const raw = (data: unknown): object => ({ ext: { protocol: 'zot', json: JSON.stringify(data) } })

  test('state', () => {
    const data = {
      provider: 'openai',
      model: 'gpt-4.1',
      cwd: '/work',
      message_count: 3,
      busy: true,
      usage: { input: 1, output: 2, cache_read: 3, cache_write: 4, cost_usd: 0.5, reasoning: null },
    }
    expect(ask(query('state'), 'get_state', { data })).toEqual({
      data: '{"agent":"agent","session":"s1","provider":"openai","model":"gpt-4.1","cwd":"/work","busy":true,"messageCount":3,"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"costUsd":0.5}}',
      ...raw(data),
    })
    expect(ask({ ...query('state'), session: undefined }, 'get_state', {})).toEqual({
      data: '{"agent":"agent","session":"","busy":false,"messageCount":0}',
    })
  })

  test('messages', () => {
    const data = {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }], time: '2026-11-28T00:04:46.853859499Z' },
        { role: 'tool', content: [{ type: 'tool_result', call_id: 'c', content: null }], time: '0001-01-01T00:00:00Z' },
        { role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: 'read', args: [] }] },
        { role: 'critic' },
      ],
    }
    expect(ask(query('messages'), 'get_messages', { data })).toEqual({
      data: '{"messages":[{"role":"user","parts":[{"type":"text","text":"hi"}],"at":1795824286853},{"role":"tool","parts":[{"type":"tool-reply","tool":"c","status":"ok","parts":[]}]},{"role":"assistant","parts":[{"type":"tool-call","tool":"c","name":"read","args":"[]"}]},{"role":"system","parts":[]}]}',
      ...raw(data),
    })
    expect(ask(query('messages'), 'get_messages', { data: { messages: null } })).toMatchObject({
      data: '{"messages":[]}',
    })
    expect(ask(query('messages'), 'get_messages', { data: {} })).toMatchObject({ data: '{"messages":[]}' })
  })

  test('models', () => {
    const data = {
      models: [{ id: 'a', provider: 'p', context_window: 10, max_output: 5, reasoning: true }, { id: 'b' }],
    }
    expect(ask(query('models'), 'get_models', { data })).toEqual({
      data: '{"models":[{"id":"a","provider":"p","contextWindow":10,"maxOutput":5,"reasoning":true},{"id":"b"}]}',
      ...raw(data),
    })
    expect(ask(query('models'), 'get_models', { data: {} })).toMatchObject({ data: '{"models":[]}' })
  })

  test('health, clear and the model', () => {
    expect(ask(query('health'), 'ping', { data: { pong: true } })).toEqual({
      data: '{"ok":true}',
      ...raw({ pong: true }),
    })
    expect(ask({ type: 'session-clear' }, 'clear', {})).toEqual({})
    expect(ask({ type: 'config-set', model: 'm' }, 'set_model', { data: { model: 'm' } })).toEqual(raw({ model: 'm' }))
  })

  test('refusals, and answers of another shape', () => {
    expect(ask({ type: 'config-set', model: 'm' }, 'set_model', { success: false, error: 'unknown model' })).toEqual({
      fault: fault('invalid-request', 'unknown model'),
    })
    expect(ask({ type: 'session-clear' }, 'clear', { success: false })).toEqual({
      fault: fault('invalid-request', 'The agent refused the command.'),
    })
    for (const [what, type, data] of [
      ['state', 'get_state', { busy: 1 }],
      ['messages', 'get_messages', { messages: [1] }],
      ['models', 'get_models', { models: [{}] }],
    ] as const) {
      expect(ask(query(what), type, { data })).toEqual({
        fault: fault(
          'protocol-violation',
          `The agent's answer to the query "${what}" has not the shape that the protocol gives it.`,
        ),
      })
    }
  })

  test('what the protocol has no command for', () => {
    for (const command of [query('agents'), { type: 'config-set', mode: 'plan' }, { type: 'session-open' }]) {
      const drive = readyBack()
      drive.link.encode({ exchange: 'x1', ...command } as Command)
      expect(drive.events[1]).toEqual({
        turn: null,
        type: 'command-reply',
        exchange: 'x1',
        fault: fault(
          'invalid-request',
          'An agent of the protocol zot cannot do this: it answers prompts, and can clear its transcript and change its model.',
        ),
      })
    }
  })

  test('the process ends with a question open, and then there is none to ask', () => {
    const drive = runningBack()
    drive.link.encode({ exchange: 'x2', type: 'query', what: 'health', ext: { protocol: 'zot', json: '{"extra":1}' } })
    expect(sentLines(drive).at(-1)).toEqual({ type: 'ping', id: 'b3', extra: 1 })
    drive.link.decodeEnd(ended)
    drive.link.encode({ exchange: 'x3', type: 'session-clear' })
    const reason = fault(
      'agent-crashed',
      'The agent exited with code 0 before it had answered; see its stderr in the gateway log.',
    )
    expect(drive.events.slice(1)).toEqual([
      { turn: null, type: 'command-reply', exchange: 'x2', fault: reason },
      { turn: null, type: 'command-reply', exchange: 'x3', fault: reason },
    ])
  })
})

test('the options know their one key', () => {
  const check = (value: unknown): unknown => codec.options.schema['~standard'].validate(value)
  expect(codec.options.keys).toEqual(['token'])
  expect(check({ token: { env: 'X' } })).toMatchObject({ value: { token: { env: 'X' } } })
  expect(check({ tokens: 'x' })).toHaveProperty('issues')
  expect(check({ token: 5 })).toHaveProperty('issues')
})
