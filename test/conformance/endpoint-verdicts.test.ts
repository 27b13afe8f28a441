import { describe, expect, test } from 'vitest'
import { type Result, testAgent } from '../../src/conformance/index.ts'
import type { AgentRun, ClientRun, JsonRecord, Verdict } from '../../src/conformance/kit/index.ts'
import { seenLine } from '../../src/conformance/lines.ts'
import { suiteOf } from '../kit/conformance.ts'
import { type Flaw, startEndpoint, whole } from '../kit/endpoints.ts'

/** A server that has no tools, and any model; what it gets is passed to `seen`. */
function toolless(seen: JsonRecord[]): Flaw {
  return (answer, { body }, as) => {
    seen.push(body)
    if (Object.keys(body).length === 0) return answer
    const { tools: _tools, ...rest } = body
    return as({ ...rest, model: 'any' })
  }
}

/** The ids of the rules that a server skips, without the name of its protocol, and those that it breaks. */
async function results(name: string, flaw: Flaw): Promise<{ skipped: string[]; broken: string[] }> {
  const suite = await suiteOf(name)
  const { url, close } = await startEndpoint(suite, flaw)
  const all = (await testAgent({ suite, target: { url }, timeoutMs: 5_000, hostEnv: {} })) as Result[]
  await close()
  const ids = (wanted: string): string[] =>
    all.filter(({ status }) => status === wanted).map(({ rule }) => rule.replace(/^[a-z-]+\./, ''))
  return { skipped: ids('skipped'), broken: ids('broken') }
}

describe('a server whose models call no tools, and that knows every model', () => {
  test.each([
    ['openai', ['4.call', '4.finish', '4.parallel', '4.stream-arguments', '4.stream-start']],
    ['openai@responses', ['4.call', '4.parallel', '4.stream-arguments']],
    ['anthropic', ['4.parallel', '4.stop-reason', '4.stream-input', '4.use']],
  ])('%s: is not tested about them', async (name, tools) => {
    const { skipped, broken } = await results(name, toolless([]))
    expect([skipped.sort(), broken]).toEqual([tools, []])
  })

  test.each([
    ['openai', 'tool_calls', 'call_conformance'],
    ['openai@responses', 'function_call_output', 'call_conformance'],
    ['anthropic', 'tool_use', 'toolu_conformance'],
  ])('%s: gets the result of a made-up call', async (name, member, id) => {
    const seen: JsonRecord[] = []
    await results(name, toolless(seen))
    const asked = seen.map((body) => JSON.stringify(body)).find((text) => text.includes('Sunny, 21'))!
    expect(asked).toContain(`"${member}"`)
    expect(asked.split(`"${id}"`)).toHaveLength(3)
  })
})

test('a server that says before its answer what it thinks gets its blocks back', async () => {
  const seen: JsonRecord[] = []
  const thinks = whole((body) => ({ ...body, content: [{ type: 'thinking' }, ...(body['content'] as [])] }))
  await results('anthropic', (answer, asked, as) => {
    seen.push(asked.body)
    return asked.body['tools'] ? thinks(answer, asked, as) : answer
  })
  const asked = seen.map((body) => JSON.stringify(body)).find((text) => text.includes('Sunny, 21'))!
  expect(asked).toContain('{"type":"thinking"},{"type":"tool_use"')
  expect(asked.split('"tool_result"')).toHaveLength(2)
})

test('a key of the environment is sent as clients of each API do', async () => {
  const headers = async (name: string, env: Record<string, string>): Promise<object> => {
    const { http } = await suiteOf(name)
    return http === false ? {} : http.headers(env)
  }
  expect(await headers('openai', { OPENAI_API_KEY: 'k' })).toEqual({ authorization: 'Bearer k' })
  expect(await headers('openai@responses', {})).toEqual({})
  expect(await headers('anthropic', { ANTHROPIC_API_KEY: 'k' })).toEqual({
    'anthropic-version': '2023-06-01',
    'x-api-key': 'k',
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }

function runOf(scenario: string, output: string, more: Partial<AgentRun> = {}): AgentRun {
  const [status, headers] = [200, output.startsWith('data:') ? { 'content-type': 'text/event-stream' } : JSON_TYPE]
  const lines = [seenLine(output, true, 1)]
  return { scenario, id: 'x', transport: 'http', lines, output, end: 'exited', status, headers, ...more }
}

const streamOf = (events: readonly JsonRecord[]): string =>
  events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')

async function verdict(suite: string, rule: string, run: AgentRun): Promise<Verdict> {
  return (await suiteOf(suite)).agent.find(({ id }) => id === rule)!.judge(run, [])
}

const kindOf = (of: Verdict): string => (of === undefined ? 'kept' : Object.keys(of)[0]!)
const block = (type: string, index: number): JsonRecord => ({ type: `content_block_${type}`, index })
const start = { ...block('start', 0), content_block: { type: 'tool_use', id: 'a', name: 'get_weather', input: {} } }

describe('verdicts about servers of models', () => {
  test.each<[string, string, string, readonly JsonRecord[]]>([
    ['kept', 'anthropic', '3.blocks', [block('start', 0), block('delta', 0), block('stop', 0), block('start', 1)]],
    ['broken', 'anthropic', '3.blocks', [block('start', 1)]],
    ['broken', 'anthropic', '3.blocks', [block('start', 0), block('start', 1)]],
    ['broken', 'anthropic', '3.blocks', [block('start', 0), block('stop', 1)]],
    ['broken', 'anthropic', '3.blocks', [block('stop', 0)]],
    ['broken', 'anthropic', '3.blocks', [block('delta', 0)]],
    ['broken', 'anthropic', '3.blocks', [block('start', 0), { type: 'message_delta' }]],
    ['kept', 'anthropic', '4.stream-input', [start, { ...block('delta', 0), delta: {} }]],
    ['broken', 'openai@responses', '3.text', [{ type: 'response.output_text.done', text: 'more' }]],
    [
      'kept',
      'openai@responses',
      '3.item-text',
      [
        { type: 'response.refusal.delta', delta: 'no' },
        { type: 'response.output_item.done', item: { type: 'message', content: [{ refusal: 'no' }] } },
      ],
    ],
    ['kept', 'openai', '5.before-stream', [{ choices: [{ delta: {} }] }]],
    ['broken', 'openai', '5.before-stream', [{ error: {} }]],
    [
      'broken',
      'openai',
      '4.stream-arguments',
      [{ choices: [{ delta: { tool_calls: [{ index: 0, id: 'c', function: {} }] } }] }],
    ],
  ])('%s: %s.%s of %j', async (kind, suite, rule, events) => {
    const prefix = { openai: 'openai-chat', 'openai@responses': 'openai-responses' }[suite] ?? suite
    expect(kindOf(await verdict(suite, `${prefix}.${rule}`, runOf('stream', streamOf(events))))).toBe(kind)
  })

  test('a refusal is a message too', async () => {
    const refusal = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [{ refusal: 'no' }] }
    const run = runOf('whole', JSON.stringify({ output: [refusal] }))
    expect(await verdict('openai@responses', 'openai-responses.2.message', run)).toBeUndefined()
  })
})

describe('verdicts about clients of them', () => {
  const post = async (suite: string, path: string, rule: string, body: JsonRecord): Promise<string> => {
    const request = { method: 'POST', path, headers: JSON_TYPE }
    const heard = [{ is: 'in' as const, line: seenLine(JSON.stringify(body), true, 0) }]
    const run: ClientRun = { visits: [{ transport: 'http', argv: [], env: {}, heard, request }], end: 'exited' }
    return kindOf((await suiteOf(suite)).client.find(({ id }) => id === rule)!.judge(run))
  }
  const chat = (rule: string, body: JsonRecord): Promise<string> =>
    post('openai', '/v1/chat/completions', `openai-chat.client.${rule}`, body)
  const responses = (rule: string, body: JsonRecord): Promise<string> =>
    post('openai@responses', '/responses?x=1', `openai-responses.client.${rule}`, body)
  const said = (content: unknown): JsonRecord => ({ messages: [{ role: 'user', content }] })

  test('of Chat Completions', async () => {
    expect(await chat('1.content', said([{ type: 'text', text: 'hi' }]))).toBe('kept')
    expect(await chat('1.content', said([{ text: 'hi' }]))).toBe('broken')
    expect(await chat('1.stream', { stream_options: {} })).toBe('broken')
    expect(await chat('1.stream', { stream: true, stream_options: {} })).toBe('kept')
  })

  test('of the Responses API', async () => {
    const output = { type: 'function_call_output', call_id: 'c' }
    expect(await responses('4.outputs', { input: [output] })).toBe('broken')
    expect(await responses('4.outputs', { input: [{ ...output, type: 'function_call' }, output] })).toBe('kept')
    expect(await responses('4.outputs', { input: [output], previous_response_id: 'resp_1' })).toBe('kept')
    expect(await responses('4.outputs', { input: [output], conversation: 'conv_1' })).toBe('kept')
    expect(await responses('1.items', { input: [{ role: 'user', content: [] }, { type: 'reasoning' }] })).toBe('kept')
    expect(await responses('1.items', { input: [{ role: 'user', content: 7 }] })).toBe('broken')
  })

  test('of the Messages API', async () => {
    const tools = async (tool: JsonRecord): Promise<string> =>
      post('anthropic', '/v1/messages', 'anthropic.client.4.tools', { tools: [tool] })
    expect(await tools({ name: 'bash', type: 'bash_20250124' })).toBe('kept')
    expect(await tools({ name: 'bash', type: null })).toBe('broken')
    expect(await tools({ name: 'mine', type: 'custom', input_schema: {} })).toBe('kept')
  })
})

describe('verdicts about agents of the Agent Client Protocol', () => {
  const rpc = async (rule: string, scenario: string, ...messages: readonly JsonRecord[]): Promise<Verdict> => {
    const lines = messages.map((one, step) => seenLine(JSON.stringify({ jsonrpc: '2.0', ...one }), true, step))
    return verdict('acp', `acp.${rule}`, { ...runOf(scenario, ''), transport: 'stdio', lines })
  }
  const opened = { id: 'n1', result: { sessionId: 's' } }

  test('ways to log in have an id and a name', async () => {
    const hello = (...authMethods: readonly unknown[]): JsonRecord => ({ id: 'i1', result: { authMethods } })
    expect(await rpc('2.capabilities', 'turn', hello({ id: 'key', name: 'Key' }))).toBeUndefined()
    expect(kindOf(await rpc('2.capabilities', 'turn', hello({ id: 'key' })))).toBe('broken')
    expect(kindOf(await rpc('2.capabilities', 'turn', hello('key')))).toBe('broken')
  })

  test('one that wants a login is not tested about sessions', async () => {
    const login = { id: 'n1', error: { code: -32000, message: 'Authentication required' } }
    expect(kindOf(await rpc('3.session-id', 'turn', login))).toBe('skipped')
    expect(kindOf(await rpc('5.stop-reason', 'turn', login))).toBe('skipped')
  })

  test('without sessions to load or to list it answers with an error', async () => {
    const hello = { id: 'i1', result: { protocolVersion: 1 } }
    expect(await rpc('4.list', 'list', hello, { id: 'l1', error: {} })).toBeUndefined()
    expect(kindOf(await rpc('4.list', 'list', hello, { id: 'l1', result: {} }))).toBe('broken')
    const lists = { id: 'i1', result: { agentCapabilities: { sessionCapabilities: { list: {} } } } }
    const listed = (...sessions: readonly unknown[]): JsonRecord => ({ id: 'l1', result: { sessions } })
    expect(await rpc('4.list', 'list', lists, listed({ sessionId: 's', cwd: '/' }))).toBeUndefined()
    expect(kindOf(await rpc('4.list', 'list', lists, listed('s')))).toBe('broken')
    expect(kindOf(await rpc('4.list', 'list', lists, { id: 'l1', error: {} }))).toBe('broken')
    expect(kindOf(await rpc('4.list', 'list', lists, { id: 'l1', result: { sessions: {} } }))).toBe('broken')
    const { agent } = await suiteOf('acp')
    const first = { ...runOf('turn', ''), lines: [seenLine(JSON.stringify(opened), true, 1)] }
    const load = (answer: JsonRecord): Verdict => {
      const lines = [hello, answer].map((one) => seenLine(JSON.stringify(one), true, 1))
      return agent.find(({ id }) => id === 'acp.3.load')!.judge({ ...runOf('load', ''), lines }, [first])
    }
    expect(load({ id: 'l2', error: {} })).toBeUndefined()
    expect(kindOf(load({ id: 'l2', result: {} }))).toBe('broken')
  })

  test('a turn that ended before it was cancelled shows nothing', async () => {
    const end = { id: 'p3', result: { stopReason: 'end_turn' } }
    expect(kindOf(await rpc('5.cancel', 'cancel', opened, end))).toBe('skipped')
    expect(kindOf(await rpc('5.cancel', 'cancel', opened))).toBe('broken')
    expect(await rpc('5.none-after', 'cancel', opened)).toBeUndefined()
    const content = { type: 'text', text: 'You said: Count from one to five hundred.' }
    const chunk = { method: 'session/update', params: { update: { sessionUpdate: 'agent_message_chunk', content } } }
    const later = [opened, {}, {}, {}, {}, {}, {}, chunk, end]
    expect(kindOf(await rpc('5.cancel', 'cancel', ...later))).toBe('skipped')
    expect(kindOf(await rpc('5.cancel', 'cancel', ...later.toSpliced(7, 1)))).toBe('broken')
  })

  test('hostile requests end with any answer but those of the opening', async () => {
    const { turns } = (await suiteOf('acp')).hostile
    expect(['i1', 'n1', 'odd-1', null].map((id) => turns.endOf({ id, result: {} }))).toEqual([
      undefined,
      undefined,
      'odd-1',
      'refused',
    ])
  })
})
