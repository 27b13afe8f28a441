import { describe, expect, test } from 'vitest'
import { fault, type Loss, type ReplyData, replyData } from '../../../src/model/index.ts'
import { front, type Line, sentLines } from './kit.ts'

/** The response to one command that is answered like this, and the losses. */
function ask(
  type: string,
  reply: { data?: ReplyData; fault?: ReturnType<typeof fault>; ext?: { protocol: string; json: string } },
  more: Line = {},
  argv: readonly string[] = ['rpc', '--model', 'asked'],
): [Line, Loss[]] {
  const drive = front({ argv })
  drive.feed(JSON.stringify({ id: '1', type, ...more }))
  const { data, ...rest } = reply
  drive.link.encodeLink!({
    turn: null,
    type: 'command-reply',
    exchange: drive.commands[0]!.exchange,
    ...(data && { data: replyData(data) }),
    ...rest,
  })
  expect(drive.sent).toHaveLength(1)
  return [sentLines(drive)[0]!, drive.losses]
}

const ok = (command: string, data?: unknown): Line => ({
  type: 'response',
  id: '1',
  command,
  success: true,
  ...(data !== undefined && { data }),
})
const invented = (item: string, field?: string): object => ({
  kind: 'invented',
  item,
  ...(field && { field }),
  why: 'required',
  count: 1,
})

const CHOSEN = { id: 'asked', provider: 'turnpike', context_window: 0, max_output: 0, reasoning: false }

describe("answers of the gateway in this protocol's shape", () => {
  test('get_state', () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, costUsd: 0.5 }
    const state = {
      agent: 'a',
      session: 's',
      provider: 'openai',
      model: 'm',
      cwd: '/w',
      busy: true,
      messageCount: 2,
      usage,
    }
    expect(ask('get_state', { data: state })).toEqual([
      ok('get_state', {
        provider: 'openai',
        model: 'm',
        cwd: '/w',
        message_count: 2,
        busy: true,
        usage: { input: 1, output: 2, cache_read: 3, cache_write: 4, cost_usd: 0.5 },
      }),
      [],
    ])
    const empty = { provider: 'turnpike', model: 'asked', cwd: '', message_count: 0, busy: false }
    const zeros = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: 0 }
    expect(ask('get_state', {})).toEqual([
      ok('get_state', { ...empty, usage: zeros }),
      [invented('query.state', 'cwd'), invented('query.state', 'usage')],
    ])
  })

  test('get_messages', () => {
    const messages = [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'hi' },
          { type: 'reasoning', text: 'well' },
        ],
        at: 1250,
      },
      { role: 'tool', parts: [{ type: 'tool-reply', tool: 'c', status: 'ok', parts: [] }] },
    ] as const
    expect(ask('get_messages', { data: { messages } })).toEqual([
      ok('get_messages', {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'hi' }], time: '1970-01-01T00:00:01.250Z' },
          {
            role: 'tool',
            content: [{ type: 'tool_result', call_id: 'c', is_error: false, content: [] }],
            time: '0001-01-01T00:00:00Z',
          },
        ],
      }),
      [{ kind: 'dropped', item: 'part.reasoning', why: 'no-place', count: 1 }, invented('query.messages', 'time')],
    ])
    expect(ask('get_messages', {})[0]).toEqual(ok('get_messages', { messages: [] }))
  })

  test('get_models', () => {
    const models = [{ id: 'a', provider: 'p', contextWindow: 9, maxOutput: 8, reasoning: true }, { id: 'b' }]
    expect(ask('get_models', { data: { models } })).toEqual([
      ok('get_models', {
        models: [
          { id: 'a', provider: 'p', context_window: 9, max_output: 8, reasoning: true },
          { id: 'b', provider: 'turnpike', context_window: 0, max_output: 0, reasoning: false },
        ],
      }),
      [invented('query.models')],
    ])
    expect(ask('get_models', {}, {}, ['rpc'])).toEqual([ok('get_models', { models: [] }), []])
    // Nobody has said any: there is at least the one that the client asked for.
    expect(ask('get_models', { data: { models: [] } })).toEqual([
      ok('get_models', { models: [CHOSEN] }),
      [invented('query.models')],
    ])
  })

  test('ping, clear and set_model', () => {
    expect(ask('ping', { data: { ok: true } })).toEqual([ok('ping', { pong: true }), []])
    expect(ask('clear', {})).toEqual([ok('clear'), []])
    expect(ask('set_model', {}, { model: 'new' })).toEqual([ok('set_model', { model: 'new' }), []])
  })

  test('an agent of the same protocol is quoted', () => {
    const ext = { protocol: 'zot', json: '{"models":[{"id":"x","new":1.0}],"more":1}' }
    expect(ask('get_models', { data: { models: [] }, ext })[0]).toEqual(
      ok('get_models', { models: [{ id: 'x', new: 1 }], more: 1 }),
    )
    expect(ask('get_models', { data: { models: [] }, ext: { ...ext, protocol: 'qwen' } })[0]).toEqual(
      ok('get_models', { models: [CHOSEN] }),
    )
  })

  test('failures; a list of models is there all the same', () => {
    const reason = fault('agent-unavailable', 'Gone.')
    const failed = (command: string, data?: unknown): Line => ({ ...ok(command, data), success: false, error: 'Gone.' })
    expect(ask('get_state', { fault: reason })).toEqual([failed('get_state'), []])
    expect(ask('get_models', { fault: reason })).toEqual([failed('get_models', { models: [] }), []])
    const drive = front()
    drive.feed('{"id":"1","type":"clear"}')
    drive.link.encodeFault(reason, drive.commands[0]!.exchange, 'continues')
    expect(sentLines(drive)).toEqual([failed('clear')])
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: drive.commands[0]!.exchange })
    expect(drive.sent).toHaveLength(1)
  })

  test('a model that was set is asked for from then on, a refused one is not', () => {
    const drive = front({ argv: ['rpc', '--model', 'old'] })
    const model = (): unknown => {
      drive.feed('{"type":"prompt","message":"x"}')
      const command = drive.commands.at(-1)!
      drive.play([{ turn: 't', type: 'turn-end', outcome: 'completed' }])
      return command.type === 'turn-start' ? command.options.model : undefined
    }
    expect(model()).toBe('old')
    drive.feed('{"type":"set_model","model":"bad"}')
    drive.link.encodeFault(fault('invalid-request', 'no'), drive.commands.at(-1)!.exchange, 'continues')
    expect(model()).toBe('old')
    drive.feed('{"type":"set_model","model":"new"}')
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: drive.commands.at(-1)!.exchange })
    expect(model()).toBe('new')
  })

  test('a prompt in one write with what it depends on waits for that, and only for that', () => {
    for (const change of ['{"type":"set_model","model":"new"}', '{"type":"clear"}']) {
      const drive = front()
      drive.feed(change, '{"type":"get_state"}', '{"type":"prompt","message":"x"}')
      const [asked, state] = drive.commands
      expect(drive.commands.map(({ type }) => type)).toEqual([asked!.type, 'query'])
      drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: state!.exchange, data: '{}' })
      expect(drive.commands).toHaveLength(2)
      drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: asked!.exchange })
      const model = asked!.type === 'config-set' ? { model: 'new' } : {}
      expect(drive.commands[2]).toMatchObject({ type: 'turn-start', options: model })
    }
  })

  test('also when it is refused', () => {
    const drive = front()
    drive.feed('{"type":"set_model","model":"bad"}', '{"type":"prompt","message":"x"}')
    expect(drive.commands).toHaveLength(1)
    drive.link.encodeFault(fault('invalid-request', 'no'), drive.commands[0]!.exchange, 'continues')
    expect(drive.commands[1]).toMatchObject({ type: 'turn-start', options: {} })
  })
})

describe('the argument line', () => {
  const options = (...argv: string[]): unknown => {
    const drive = front({ argv: ['rpc', ...argv] })
    drive.feed('{"type":"prompt","message":"x"}')
    expect(drive.warned).toEqual([])
    const command = drive.commands[0]!
    return command.type === 'turn-start' ? command.options : undefined
  }

  test('what is honoured', () => {
    expect(options()).toEqual({})
    expect(options('--model', 'm', '--reasoning', 'low', '--tools', 'read, write,,bash')).toEqual({
      model: 'm',
      effort: 'low',
      tools: ['read', 'write', 'bash'],
    })
    expect(options('--no-tools', '--no-session', '--rpc')).toEqual({ tools: [] })
    expect(options('--system-prompt', 'A', '--append-system-prompt', 'b', '--append-system-prompt', 'c')).toEqual({
      systemPrompt: 'A\n\nb\n\nc',
    })
    // What follows a flag is its value, whatever it looks like.
    expect(options('--model', '--help')).toEqual({ model: '--help' })
  })

  test('text that is only appended is a loss of every prompt', () => {
    const drive = front({ argv: ['rpc', '--append-system-prompt', 'b'] })
    drive.feed('{"type":"prompt","message":"x"}')
    expect(drive.commands[0]).toMatchObject({ options: { systemPrompt: 'b' } })
    expect(drive.losses).toEqual([
      { kind: 'weakened', item: 'option.systemPrompt', field: 'append', why: 'no-place', count: 1 },
    ])
  })

  test('version and help are text, and exit 0', () => {
    for (const flag of ['--version', '-v']) {
      const drive = front({ argv: ['rpc', flag] })
      drive.link.decode('{"type":"ping"}')
      expect([drive.sent, drive.exitCode, drive.commands]).toEqual([['zot 0.0.0-turnpike'], 0, []])
    }
    for (const flag of ['--help', '-h']) {
      const drive = front({ argv: [flag] })
      expect([drive.sent[0], drive.exitCode]).toEqual(['zot, served by turnpike.', 0])
    }
  })

  test('the list of models is a table; what nobody could be asked for is told, and exits 1', () => {
    const drive = front({ argv: ['rpc', '--list-models'] })
    drive.link.decode('{"type":"ping"}')
    drive.link.decodeEnd!('eof')
    expect(drive.exitCode).toBeUndefined()
    expect(drive.commands).toEqual([{ exchange: 'f2', session: { id: 'f1' }, type: 'query', what: 'models' }])
    const models = [{ id: 'gpt', provider: 'openai', contextWindow: 1000, maxOutput: 10, reasoning: true }, { id: 'x' }]
    drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f2', data: replyData({ models }) })
    expect(drive.sent).toEqual([
      'provider    model id                        context   max-out   reasoning',
      'openai      gpt                             1000      10        yes',
      'turnpike    x                               -         -',
    ])
    expect(drive.exitCode).toBe(0)
    const failing = front({ argv: ['rpc', '--list-models'] })
    failing.link.encodeFault(fault('agent-unavailable', 'Gone.'), 'f2', 'continues')
    expect(failing.warned).toEqual(['turnpike as zot: Gone.'])
    expect([failing.sent.length, failing.exitCode]).toEqual([1, 1])
  })
})
