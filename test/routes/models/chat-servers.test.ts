import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../kit/gateway.ts'
import { MODELS } from '../../kit/models/index.ts'
import type { Answered, Call } from '../../kit/models/protocol.ts'
import { type RawAnswer, type RawServer, startRawServer } from '../../kit/raw-server.ts'

/**
 * Servers of Chat Completions as they really answer, each with its own ways, behind a gateway: what a client reads is
 * the same answer as from any other server.
 */
const chat = MODELS['chat']!
const TOOL = { name: 'add', description: 'Adds.', parameters: { type: 'object' } }

const data = (json: unknown, end = '\n\n'): string => `data: ${JSON.stringify(json)}${end}`
const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})
const stream = (...chunks: (object | string)[]): RawAnswer => ({
  body: chunks.map((one) => (typeof one === 'string' ? one : data(one))).join(''),
})
const DONE = 'data: [DONE]\n\n'
const HELLO = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }), chunk({ content: 'lo.' })]
const STOP = chunk({}, 'stop')
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const COUNTED = { input: 7, output: 3 }
const json = (value: unknown, status = 200): RawAnswer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
})
const failed = (value: object | string, status: number): RawAnswer =>
  typeof value === 'string' ? { status, type: 'text/html', body: value } : json(value, status)
const call = (name: string | undefined, args: unknown, more: object = {}): object => ({
  ...more,
  type: 'function',
  function: { ...(name !== undefined && { name }), arguments: args },
})

let gateway: TestGateway
let server: RawServer

beforeAll(async () => {
  server = await startRawServer()
  gateway = await startGateway(
    `default: server\nagents: { server: { protocol: openai, url: "${server.url}/v1", model: m } }`,
  )
})
afterAll(async () => {
  await gateway.close()
  await server.close()
})

async function ask(answer: RawAnswer, streams: boolean): Promise<Answered> {
  server.answers(answer)
  const asked = { model: 'server', messages: [{ role: 'user', text: 'hi' }], tools: [TOOL], stream: streams } as const
  const response = await fetch(gateway.url + chat.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(chat.write({ ...asked, messages: [...asked.messages], tools: [...asked.tools] })),
  })
  return chat.read(await response.text())
}

const choice = (...choices: object[]): object => ({ choices })
const lost = (item: string, field?: string) => ({
  kind: 'dropped',
  item,
  ...(field !== undefined && { field }),
  why: 'no-place',
  count: 1,
})

/** The loss report of an answer one of whose members its client is not shown. */
const dropped = (field: string): NonNullable<Answered['losses']> => [
  { kind: 'dropped', item: 'ext', ...{ field, count: 1, why: 'no-place' } },
]

const FORMS = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(FORMS)('%s', (_form, streams) => {
  test.each<[string, RawAnswer, Partial<Answered>]>([
    [
      'OpenAI, with fields of later versions',
      stream(
        chunk({ role: 'assistant', content: '', refusal: null }, null, { service_tier: 'default', obfuscation: 'xY' }),
        ...HELLO,
        STOP,
        { ...chunk({}), choices: [], usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 4 } } },
        DONE,
      ),
      { usage: { ...COUNTED, cached: 4 } },
    ],
    [
      'Azure, with chunks of its filters',
      stream(
        { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
        ...HELLO,
        { choices: [{ index: 0, finish_reason: null, content_filter_results: {}, content_filter_offsets: {} }] },
        STOP,
        DONE,
      ),
      {},
    ],
    [
      'vLLM, with a usage in every chunk and a stop reason',
      stream(
        ...HELLO.map((one, at) => ({ ...one, usage: { prompt_tokens: 7, completion_tokens: at } })),
        { ...chunk({ content: '' }), choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: null }] },
        { choices: [], usage: USAGE },
        DONE,
      ),
      { usage: COUNTED },
    ],
    [
      'llama.cpp, with timings on the last chunk',
      stream(...HELLO, { ...STOP, usage: USAGE, timings: { predicted_n: 3 } }, DONE),
      { usage: COUNTED, losses: dropped('timings') },
    ],
    [
      'Ollama, with a role in every chunk',
      stream(...HELLO.map((one) => one), chunk({ role: 'assistant', content: '' }, 'stop'), DONE),
      {},
    ],
    [
      'OpenRouter, with comments and details of its reasoning',
      stream(
        ': OPENROUTER PROCESSING\n\n',
        ': OPENROUTER PROCESSING\n\n',
        chunk({ role: 'assistant', content: '', reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text' }] }),
        ...HELLO,
        { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop', native_finish_reason: 'STOP' }] },
        DONE,
      ),
      { reasoning: 'Hm.', losses: dropped('native_finish_reason') },
    ],
    [
      'Groq, with its usage in x_groq',
      stream(...HELLO, { ...STOP, x_groq: { id: 'r', usage: USAGE } }, DONE),
      { usage: COUNTED },
    ],
    [
      'Moonshot, with its usage in the last choice',
      stream(
        ...HELLO,
        { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: { ...USAGE, cached_tokens: 2 } }] },
        DONE,
      ),
      { usage: { ...COUNTED, cached: 2 } },
    ],
    [
      'DeepSeek, with reasoning and cache hits of its own',
      stream(
        chunk({ role: 'assistant', content: null, reasoning_content: 'H' }),
        chunk({ content: null, reasoning_content: 'm.' }),
        ...HELLO,
        { ...STOP, usage: { ...USAGE, prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 2 } },
        DONE,
      ),
      { reasoning: 'Hm.', usage: { ...COUNTED, cached: 5 } },
    ],
    [
      'Mistral, with content in parts',
      stream(
        chunk({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
        chunk({
          content: [
            { type: 'text', text: 'Hello' },
            { type: 'reference', reference_ids: [1] },
          ],
        }),
        chunk({ content: '.' }, 'stop', { usage: USAGE }),
        DONE,
      ),
      { reasoning: 'Hm.', usage: COUNTED, losses: [lost('part.data', 'reference')] },
    ],
    [
      'a server with pictures in its content',
      stream(...HELLO, chunk({ content: [{ type: 'image_url', image_url: { url: 'data:,x' } }, {}] }), STOP, DONE),
      { losses: [lost('part.data', 'image_url'), lost('part.data')] },
    ],
    [
      'a server with several answers',
      stream(
        ...HELLO.flatMap((one) => [one, choice({ index: 1, delta: { content: 'Bye' } })]),
        choice({ index: 1, delta: {}, finish_reason: 'length' }, { index: 0, delta: {}, finish_reason: 'stop' }),
        DONE,
      ),
      { losses: [lost('message-end', 'choices')] },
    ],
    [
      'a server with several answers in one piece, the first one last',
      json(
        choice(
          { index: 1, message: { content: 'Bye.' }, finish_reason: 'length' },
          { index: 0, message: { content: 'Hello.' }, finish_reason: 'stop' },
        ),
      ),
      { losses: [lost('message-end', 'choices')] },
    ],
    [
      'a server without an index',
      stream(...HELLO, choice({ index: null, delta: {}, finish_reason: 'STOP' }), DONE),
      {},
    ],
    [
      'a server with a finish reason of its own',
      stream(...HELLO, chunk({}, 'constructor'), DONE),
      { losses: [{ ...lost('end.stop', 'constructor'), kind: 'weakened' }] },
    ],
    [
      'Perplexity, with the message so far in every chunk',
      stream(
        ...HELLO.map((one) => ({
          ...one,
          choices: [{ ...(one as { choices: object[] }).choices[0], message: { content: 'Hello so far' } }],
        })),
        STOP,
        DONE,
      ),
      {},
    ],
    [
      'a server with CR LF',
      { body: `${[...HELLO, STOP].map((one) => data(one, '\r\n\r\n')).join('')}data: [DONE]\r\n\r\n` },
      {},
    ],
    [
      'a server without spaces',
      { body: `${[...HELLO, STOP].map((one) => data(one).replace('data: ', 'data:')).join('')}data:[DONE]\n\n` },
      {},
    ],
    ['a server without [DONE]', stream(...HELLO, STOP), {}],
    [
      'a server that names its events',
      { body: [...HELLO, STOP].map((one) => `event: chunk\nid: 1\n${data(one)}`).join('') + DONE },
      {},
    ],
    [
      'a server with empty finish reasons',
      stream(
        ...HELLO.map((one) => ({
          ...one,
          choices: [{ ...(one as { choices: object[] }).choices[0], finish_reason: '' }],
        })),
        STOP,
        DONE,
      ),
      {},
    ],
    [
      'a server with null for what it leaves out',
      stream({ choices: null }, { choices: [{ delta: null }] }, ...HELLO, { ...STOP, usage: null }, DONE),
      {},
    ],
    ['a server that goes on behind [DONE]', stream(...HELLO, STOP, DONE, chunk({ content: 'More.' })), {}],
    [
      'a server that answers in one piece',
      json({
        id: 'c',
        choices: [{ message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
        usage: USAGE,
      }),
      { usage: COUNTED },
    ],
  ])('%s', async (_name, answer, more) => {
    const answered = await ask(answer, streams)
    const { usage, ...read } = answered
    const { reasoning = '', losses } = more
    expect(read).toEqual({ text: 'Hello.', reasoning, calls: [], stop: 'end', ...(losses && { losses }) })
    if (more.usage || !streams) expect(usage).toEqual(more.usage)
  })

  const CALLED = { id: expect.stringMatching(/^call_/), name: 'add' } as unknown as Call
  const ONE = [{ ...CALLED, args: '{"a":1}' }]
  const TWO = [...ONE, { ...CALLED, args: '{"a":2}' }]
  test.each<[string, RawAnswer, Call[]]>([
    [
      'pieces of arguments',
      stream(
        chunk({ tool_calls: [call('add', '', { index: 0, id: 'a' })] }),
        chunk({ tool_calls: [call(undefined, '{"a"', { index: 0 })] }),
        chunk({ tool_calls: [call(undefined, ':1}', { index: 0 })] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      ONE,
    ],
    [
      'its name and id again in every piece',
      stream(
        chunk({ tool_calls: [call('add', '{"a"', { index: 0, id: 'a' })] }),
        chunk({ tool_calls: [call('add', ':1}', { index: 0, id: 'a' })] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      ONE,
    ],
    [
      'two in one chunk without an index',
      stream(
        chunk({ tool_calls: [call('add', '{"a":1}', { id: 'a' }), call('add', '{"a":2}', { id: 'b' })] }),
        chunk({}, 'stop'),
        DONE,
      ),
      TWO,
    ],
    [
      'two without an index or an id',
      stream(
        chunk({ tool_calls: [call('add', '{"a":1}')] }),
        chunk({ tool_calls: [call('add', '{"a":2}')] }),
        chunk({}, 'stop'),
        DONE,
      ),
      TWO,
    ],
    [
      'pieces without an index or an id',
      stream(
        chunk({ tool_calls: [call('add', '{"a"')] }),
        chunk({ tool_calls: [call(undefined, ':1}')] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      ONE,
    ],
    [
      'two with the same index',
      stream(
        chunk({ tool_calls: [call('add', '{"a":1}', { index: 0, id: 'a' })] }),
        chunk({ tool_calls: [call('add', '{"a":2}', { index: 0, id: 'b' })] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      TWO,
    ],
    [
      'two with the same id',
      stream(
        chunk({
          tool_calls: [call('add', '{"a":1}', { index: 0, id: 'a' }), call('add', '{"a":2}', { index: 1, id: 'a' })],
        }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      TWO,
    ],
    [
      'an empty id',
      stream(chunk({ tool_calls: [call('add', '{"a":1}', { index: 0, id: '' })] }), chunk({}, 'tool_calls'), DONE),
      ONE,
    ],
    [
      'an id that comes later',
      stream(
        chunk({ tool_calls: [call('add', '{"a"', { index: 0 })] }),
        chunk({ tool_calls: [call(undefined, ':1}', { index: 0, id: 'a' })] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      ONE,
    ],
    [
      'interleaved pieces',
      stream(
        chunk({ tool_calls: [call('add', '{"a"', { index: 0, id: 'a' }), call('add', '{"a"', { index: 1, id: 'b' })] }),
        chunk({ tool_calls: [call(undefined, ':2}', { index: 1 }), call(undefined, ':1}', { index: 0 })] }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
      TWO,
    ],
    [
      'arguments as an object',
      stream(chunk({ tool_calls: [call('add', { a: 1 }, { index: 0, id: 'a' })] }), chunk({}, 'tool_calls'), DONE),
      ONE,
    ],
    [
      'a whole answer with an object as arguments',
      json({
        choices: [{ message: { tool_calls: [call('add', { a: 1 }, { id: 'a' })] }, finish_reason: 'tool_calls' }],
      }),
      ONE,
    ],
  ])('a call with %s', async (_name, answer, calls) => {
    const answered = await ask(answer, streams)
    expect({ calls: answered.calls, stop: answered.stop }).toEqual({ calls, stop: 'tools' })
    expect(new Set(answered.calls.map(({ id }) => id)).size).toBe(calls.length)
  })

  test.each([
    ['model_length', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['MAX_TOKENS', 'length'],
    ['sensitive', 'refusal'],
    ['safety', 'refusal'],
    ['refusal', 'refusal'],
  ])('the finish reason "%s" is no complete answer', async (reason, stop) => {
    expect(await ask(stream(...HELLO, chunk({}, reason), DONE), streams)).toMatchObject({ text: 'Hello.', stop })
  })

  test('a call that a limit of tokens has cut is for nobody to run', async () => {
    const before = server.requests.length
    const answered = await ask(
      stream(
        chunk({ content: 'Let me' }),
        chunk({ tool_calls: [call('add', '{"a"', { index: 0, id: 'a' })] }),
        chunk({}, 'length'),
        DONE,
      ),
      streams,
    )
    expect(answered).toMatchObject({ text: 'Let me', calls: [], stop: 'length' })
    expect(server.requests.length).toBe(before + 1)
  })

  test.each<[string, RawAnswer, string, string]>([
    [
      'OpenAI’s words for a wrong key',
      failed({ error: { message: 'Incorrect API key', type: 'invalid_request_error', code: 'invalid_api_key' } }, 401),
      'invalid_api_key',
      'Incorrect API key',
    ],
    [
      'Azure’s words for a missing deployment',
      failed({ error: { code: 'DeploymentNotFound', message: 'The deployment does not exist.' } }, 404),
      'DeploymentNotFound',
      'The deployment does not exist.',
    ],
    [
      'vLLM’s older words',
      failed({ object: 'error', message: 'The model does not exist.', type: 'NotFoundError', code: 404 }, 404),
      '404',
      'The model does not exist.',
    ],
    [
      'the words of servers in Python',
      failed({ detail: [{ loc: ['body'], msg: 'field required', type: 'missing' }, 'more'] }, 422),
      'provider_error',
      'field required; more',
    ],
    ['a text', failed({ error: 'model "m" not found' }, 404), 'provider_error', 'model "m" not found'],
    ['a page of a proxy', failed('<html>502 Bad Gateway</html>', 502), 'provider_down', 'HTTP status 502'],
    ['no words at all', { status: 503, type: 'text/plain', body: '' }, 'provider_down', ''],
    [
      'an error with the status of a success',
      json({ error: { message: 'Overloaded', code: 'overloaded_error' } }),
      'overloaded_error',
      'Overloaded',
    ],
    [
      'an error in the stream',
      stream(...HELLO, {
        error: { code: 502, message: 'Upstream failed' },
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      }),
      '502',
      'Upstream failed',
    ],
    [
      'vLLM’s older error in the stream',
      stream(...HELLO, { object: 'error', message: 'Internal server error', code: 500 }, DONE),
      '500',
      'Internal server error',
    ],
    [
      'an error as an event of another kind',
      {
        body: [
          ...HELLO.map((one) => data(one)),
          'event: error\n',
          data({ error: { message: 'Too many requests', code: 429 } }),
        ].join(''),
      },
      '429',
      'Too many requests',
    ],
    [
      'the finish reason "error"',
      stream(...HELLO, chunk({}, 'error'), DONE),
      'provider_error',
      'ended its answer with an error',
    ],
    ...['insufficient_system_resource', 'network_error', 'abort', 'aborted'].map(
      (reason): [string, RawAnswer, string, string] => [
        `the finish reason "${reason}"`,
        stream(...HELLO, chunk({}, reason), DONE),
        'provider_down',
        `broke its answer off (${reason})`,
      ],
    ),
    [
      'an error as a text in the stream',
      stream(...HELLO, { error: 'Out of memory' }),
      'provider_error',
      'Out of memory',
    ],
    ['an error as a text', json({ error: 'No model is loaded' }), 'provider_error', 'No model is loaded'],
    ['only a text', json('Too many requests', 503), 'provider_down', 'Too many requests'],
    ['an address elsewhere', { ...json({}, 302) }, 'protocol_violation', 'elsewhere (HTTP status 302)'],
    ['a stream that ends without a finish reason', stream(...HELLO), 'provider_down', 'cut its answer off'],
    ['[DONE] without a finish reason', stream(...HELLO, DONE), 'provider_down', 'cut its answer off'],
    [
      'llama.cpp’s error, which is no event',
      { body: [...HELLO.map((one) => data(one)), 'error: {"code":500}\n\n'].join('') },
      'provider_down',
      'cut its answer off',
    ],
    [
      'a stream that is cut in a line',
      { body: [...HELLO.map((one) => data(one)), 'data: {"choices":[{"de'].join(''), cut: true },
      'provider_down',
      'cut its answer off',
    ],
    [
      'a cut connection',
      { body: HELLO.map((one) => data(one)).join(''), cut: true },
      'provider_down',
      'cut its answer off',
    ],
    ['half of an answer', { type: 'application/json', body: '{"choices":[{"mess' }, 'protocol_violation', ''],
    ['no JSON in the stream', stream(...HELLO, 'data: oops\n\n'), 'protocol_violation', 'no chunk of an answer'],
    ['an empty body', { body: '' }, 'provider_down', 'cut its answer off'],
  ])('%s is an error, never an answer', async (_name, answer, code, message) => {
    const { error, stop } = await ask(answer, streams)
    expect(stop).toBeUndefined()
    expect(error?.message).toContain(message)
    expect(error?.code).toBe(code)
  })
})
