import { describe, expect, test } from 'vitest'
import type { PlayerContext, Reaction } from '../../src/conformance/kit/index.ts'
import { seenLine } from '../../src/conformance/lines.ts'
import { suiteOf } from '../kit/conformance.ts'

/** The words of a stand-in, without what it waits for. */
const words = (reactions: readonly Reaction[]): unknown[] =>
  reactions.flatMap((one): unknown[] => ('write' in one ? one.write.trim().split('\n') : 'pause' in one ? [] : [one]))
const kinds = (reactions: readonly Reaction[]): unknown[] =>
  words(reactions).map((word) => {
    if (typeof word !== 'string') return word
    const { type, command, object, event, success, status } = JSON.parse(word) as Record<string, unknown>
    return [type ?? object, command ?? event ?? status, success].filter((part) => part !== undefined).join(' ')
  })

async function player(name: string, context: Partial<PlayerContext> = {}) {
  const played = (await suiteOf(name)).play({ transport: 'stdio', argv: [], env: {}, ...context })
  return {
    ...played,
    say: (frame: unknown) => played.line(seenLine(typeof frame === 'string' ? frame : JSON.stringify(frame), true, 0)),
  }
}

describe('stand-ins for clients under test', () => {
  test('zot', async () => {
    const { say } = await player('zot')
    expect(kinds(say({ id: '1', type: 'hello' }))).toEqual(['response hello true'])
    expect(kinds(say({ type: 'abort' }))).toEqual(['response abort true'])
    expect(kinds(say({ type: 'no_such' }))).toEqual(['response no_such false'])
    expect(kinds(say('no JSON'))).toEqual(['response  false'])
    expect(kinds(say({ type: 'compact' }))).toEqual(['response compact true', 'compact_done', 'done'])
    expect(kinds(say({ type: 'prompt', message: 'hi' }))).toEqual([
      'response prompt true',
      'user_message',
      'turn_start',
      'assistant_start',
      'text_delta',
      'text_delta',
      'usage',
      'assistant_message',
      'turn_end',
      'done',
    ])
  })

  test('native', async () => {
    const { say, open } = await player('native')
    expect(kinds(open!())).toEqual(['agent-ready'])
    expect(kinds(say({ type: 'query', exchange: 'e1' }))).toEqual(['command-reply'])
    expect([...say({ type: 'query' }), ...say({ type: 'turn-cancel', exchange: 'e2' }), ...say('no JSON')]).toEqual([])
    for (const turn of ['mine', undefined]) {
      const answer = words(say({ type: 'turn-start', turn, input: 'hi' })).map(
        (word) => JSON.parse(String(word)) as object,
      )
      expect(answer).toHaveLength(7)
      expect(answer.at(-1)).toMatchObject({ type: 'turn-end', turn: turn ?? 'conformance-1', outcome: 'completed' })
    }
  })

  test('zene, one-shot', async () => {
    const { say } = await player('zene')
    const good = say({ request_id: 'r', session_id: 's', prompt: 'hi' })
    expect(JSON.parse(String(words(good)[0]))).toMatchObject({ ok: true, request_id: 'r', session_id: 's' })
    expect(good.at(-1)).toEqual({ exit: 0 })
    expect(JSON.parse(String(words(say('no JSON'))[0]))).toMatchObject({
      ok: false,
      request_id: 'unknown',
      error_code: 'INVALID_REQUEST',
    })
  })

  test('zene, stream mode', async () => {
    const { say } = await player('zene', { argv: ['host', '--single-request', 'false'] })
    expect(kinds(say({ type: 'ping', request_id: 'p' }))).toEqual(['ack PONG'])
    expect(kinds(say({ type: 'cancel', request_id: 'c' }))).toEqual(['ack CANCEL_ACCEPTED'])
    expect(kinds(say({ type: 'session_close', request_id: 'c' }))).toEqual(['ack SESSION_CLOSED'])
    expect(kinds(say({ request_id: 'r', prompt: 'hi' }))).toEqual(['ack ACCEPTED', 'final OK'])
  })

  test('agentproc', async () => {
    const streaming = await player('agentproc', { env: { AGENT_STREAMING: '1' } })
    expect(words(streaming.open!())).toEqual([
      'AGENT_SESSION:conformance-1',
      'AGENT_PARTIAL:"All"',
      'AGENT_PARTIAL:" well."',
      'AGENT_SESSION:conformance-2',
      { exit: 0 },
    ])
    const whole = await player('agentproc')
    expect(words(whole.open!()).slice(1, 3)).toEqual(['All', 'well.'])
    expect([...whole.say('anything'), ...whole.eof!()]).toEqual([])
  })

  test('agentproc 0.4', async () => {
    const plain = await player('agentproc@0.4')
    expect(kinds(plain.say({ type: 'turn', message: 'hi' }))).toEqual(['partial', 'result', { exit: 0 }])
    expect(words(plain.eof!())).toEqual([{ exit: 0 }])
    const asking = await player('agentproc@0.4')
    expect(asking.say('no JSON')).toEqual([])
    expect(kinds(asking.say({ type: 'turn', message: 'hi', permission: true }))).toEqual([
      'partial',
      'permission_request',
    ])
    expect(kinds(asking.say({ type: 'permission_response' }))).toEqual(['result', { exit: 0 }])
    expect(kinds(asking.eof!())).toEqual(['result', { exit: 0 }])
  })

  test('openharness', async () => {
    const { say } = await player('openharness')
    const asked = { protocol_version: '1.0.0', request_id: 'r', correlation_id: 'c', request: {} }
    const [status, envelope, exit] = words(say(asked))
    expect([status, exit]).toEqual([{ status: 200 }, { exit: 0 }])
    expect(JSON.parse(String(envelope))).toMatchObject({
      request_id: 'r',
      correlation_id: 'c',
      response: { status: 'success' },
    })
    const http = await player('openharness', { transport: 'http' })
    const [refused, body] = words(http.say('no JSON'))
    expect(refused).toEqual({ status: 400 })
    expect(JSON.parse(String(body))).toEqual({
      protocol_version: '1.0.0',
      response: { status: 'error', error: { code: 'invalid_request', retryable: false } },
    })
  })

  test('qwen', async () => {
    const { say } = await player('qwen')
    expect(kinds(say({ type: 'heartbeat_request' }))).toEqual(['result/heartbeat ok'])
    expect(kinds(say({ type: 'control/cancel' }))).toEqual(['result/cancel noop'])
    expect(kinds(say({ input: {} }))).toEqual(['control_request'])
    expect(kinds(say({ type: 'control_response' }))).toEqual(['chat.completion', 'x-qwen-session-event Finished'])
    expect(say('no JSON')).toEqual([])
    const chunked = await player('qwen', { argv: ['--output-format', 'stream-chunk-json'] })
    expect(kinds(chunked.say({ messages: [] }))).toEqual(Array(4).fill('chat.completion.chunk'))
  })

  test('qwen-code', async () => {
    const { say } = await player('qwen-code')
    expect(say('no JSON')).toEqual([])
    expect(kinds(say({ type: 'control_request', request_id: '1' }))).toEqual(['control_response'])
    expect(kinds(say({ type: 'user' }))).toEqual(
      ['system', 'assistant', 'result'].map((type) => expect.stringContaining(type)),
    )
    expect(kinds(say({ type: 'control_request', request: { subtype: 'initialize' } }))).toEqual(['control_response'])
    expect(kinds(say({ type: 'user' }))).toEqual(['system', 'control_request'])
    expect(kinds(say({ type: 'control_response' }))).toEqual(['assistant', 'result'])
    expect(kinds(say({ type: 'user' }))).toEqual(['system', 'assistant', 'result'])
  })

  test('acp', async () => {
    const { say } = await player('acp')
    const told = (frame: unknown): unknown[] => words(say(frame)).map((word) => JSON.parse(String(word)) as object)
    const ask = (id: number, method: string, params: object = {}): object => ({ jsonrpc: '2.0', id, method, params })
    const prompt = ask(3, 'session/prompt', { sessionId: 'session-conformance', prompt: [] })
    expect(told(ask(1, 'initialize'))).toMatchObject([{ id: 1, result: { protocolVersion: 1 } }])
    expect(told(ask(2, 'session/new'))).toMatchObject([{ id: 2, result: { sessionId: 'session-conformance' } }])
    expect(told(ask(4, 'session/list'))).toMatchObject([{ id: 4, error: { code: -32601 } }])
    expect(told('no JSON')).toMatchObject([{ id: null, error: { code: -32700 } }])
    expect([...told({ method: 'session/cancel' }), ...told({ id: 'q', result: {} })]).toEqual([])
    expect(told(ask(3, 'session/prompt', { sessionId: 'other' }))).toMatchObject([{ id: 3, error: { code: -32602 } }])
    expect(told(prompt)).toMatchObject([
      { params: { update: { sessionUpdate: 'tool_call' } } },
      { method: 'session/request_permission' },
      { method: '_conformance/unknown' },
    ])
    expect(told({ ...prompt, id: 5 })).toMatchObject([{ id: 5, error: { code: -32602 } }])
    expect(told({ jsonrpc: '2.0', id: 'conformance-permission', result: {} })).toEqual([])
    const end = told({ jsonrpc: '2.0', id: 'conformance-unknown', error: {} })
    expect(end).toMatchObject([{}, {}, { id: 3, result: { stopReason: 'end_turn' } }])
    say(prompt)
    expect(told({ method: 'session/cancel' })).toMatchObject([{ id: 3, result: { stopReason: 'cancelled' } }])
  })

  test('servers of models: tools are called, schemas are kept to, what is wrong is refused', async () => {
    const post = async (name: string, path: string, body: unknown): Promise<unknown> => {
      const request = { method: body === undefined ? 'GET' : 'POST', path, headers: {} }
      const { say } = await player(name, { transport: 'http', request })
      const text = say(body ?? '').flatMap((one) => ('write' in one ? one.write : []))
      return JSON.parse(text.join('')) as unknown
    }
    const chat = (more: object): Promise<unknown> =>
      post('openai', '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }], ...more })
    const schema = { type: 'json_schema', json_schema: { schema: { required: ['a'] } } }
    expect(await chat({ response_format: schema })).toMatchObject({ choices: [{ message: { content: '{"a":"ok"}' } }] })
    const loose = { type: 'json_schema', json_schema: { schema: {} } }
    expect(await chat({ response_format: loose })).toMatchObject({ choices: [{ message: { content: '{}' } }] })
    expect(await chat({ tools: [{ type: 'custom' }] })).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect(await chat({ max_tokens: 3 })).toMatchObject({ choices: [{ finish_reason: 'length' }] })
    expect(await post('openai', '/v1/models/x', undefined)).toMatchObject({ object: 'model' })
    const input = { input: 'hi', max_output_tokens: 9, previous_response_id: null, tools: [{ type: 'web_search' }] }
    expect(await post('openai@responses', '/v1/responses', input)).toMatchObject({ status: 'incomplete' })
    const request = { method: 'POST', path: '/v1/responses', headers: {} }
    const { say } = await player('openai@responses', { transport: 'http', request })
    expect(JSON.stringify(say({ ...input, stream: true }))).toContain('event: response.incomplete')
    expect(await post('openai@responses', '/v1/responses/resp_x', undefined)).toMatchObject({ error: {} })
    expect(await post('anthropic', '/v1/models/x', undefined)).toMatchObject({ type: 'model' })
  })
})
