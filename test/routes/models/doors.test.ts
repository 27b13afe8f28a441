import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS, startGateway, type TestGateway } from '../../kit/gateway.ts'
import { type Asked, MODELS, type ModelServer, startModel } from '../../kit/models/index.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** What every client of a protocol of models may send and read around its requests: keys, CORS, ids, traces, losses. */
describe.each(Object.entries(MODELS))('%s', (_name, protocol) => {
  let gateway: TestGateway
  let model: ModelServer

  beforeAll(async () => {
    model = await startModel(protocol, () => ({ pieces: [{ text: 'Hello.' }] }))
    gateway = await startGateway(`
server:
  origins: ["https://app.example"]
  keys: [{ name: mine, hash: ${hashOf('my-key')} }]
default: model
agents:
  model: { ${protocol.agent(model.url)}, headers: { authorization: "Bearer provider-key" } }
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] }
`)
  })
  afterAll(async () => {
    await gateway.close()
    await model.close()
  })

  const KEY = { authorization: 'Bearer my-key' }
  const ask = (headers: Record<string, string>, more: Partial<Asked> = {}): Promise<Response> =>
    fetch(gateway.url + protocol.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(protocol.write({ model: 'model', messages: [{ role: 'user', text: 'hi' }], ...more })),
    })

  test.each([
    ['Authorization', KEY, 200],
    ['X-API-Key', { 'x-api-key': 'my-key' }, 200],
    ['another scheme', { authorization: 'Basic my-key' }, 401],
    ['a wrong key', { authorization: 'Bearer other' }, 401],
    ['no key', {}, 401],
  ])('a key as %s', async (_how, headers, status) => {
    const answer = await ask(headers as Record<string, string>)
    const { text, error } = protocol.read(await answer.text())
    expect(answer.status).toBe(status)
    if (status === 200) expect(text).toBe('Hello.')
    else expect(error?.code).toBe(protocol.refusal('unauthenticated').code)
  })

  test('the key of a client never reaches the server, which gets its own', async () => {
    await (await ask({ 'x-api-key': 'my-key' })).text()
    const { headers } = model.requests.at(-1)!
    expect(headers['authorization']).toBe('Bearer provider-key')
    expect(JSON.stringify(headers)).not.toContain('my-key')
  })

  const OWN =
    'authorization, x-api-key, content-type, anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access, openai-organization, x-stainless-lang, x-stainless-retry-count, x-stainless-timeout'
  test('a page of a configured origin may send the headers of its client, and read those of the answer', async () => {
    const preflight = await fetch(gateway.url + protocol.path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': OWN,
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(preflight.headers.get('access-control-allow-headers')).toBe(OWN)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    const answer = await ask({ ...KEY, origin: 'https://app.example' })
    await answer.text()
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example')
    const exposed = answer.headers.get('access-control-expose-headers')!.toLowerCase().split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining(['turnpike-loss', 'x-request-id', 'request-id', 'x-should-retry', 'retry-after']),
    )
    const refused = await ask({ origin: 'https://app.example' })
    await refused.text()
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, 'https://app.example'])
  })

  test('a page of any other origin is refused', async () => {
    const answer = await ask({ ...KEY, origin: 'https://evil.example' })
    await answer.text()
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null])
  })

  test('the trace of a client goes on in the request to the server', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    await (await ask({ ...KEY, traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' })).text()
    const { headers } = model.requests.at(-1)!
    expect(headers['traceparent']).toContain(trace)
    expect(headers['tracestate']).toBe('vendor=1')
  })

  test('an answer has the id of its request, or one of its own', async () => {
    const name = protocol.requestId
    const own = await ask({ ...KEY, 'x-request-id': 'mine-1' })
    await own.text()
    const other = await ask(KEY)
    await other.text()
    expect(own.headers.get('x-request-id')).toBe('mine-1')
    expect(other.headers.get(name)).toMatch(/\S/)
  })

  test.each([false, true])(
    'losses are in a header or trailer, and where the body has a place (stream: %s)',
    async (stream) => {
      const answer = await ask(KEY, { model: 'helper', maxTokens: 99, stream })
      const raw = await answer.text()
      expect(protocol.read(raw).error).toBeUndefined()
      const { losses } = protocol.read(raw)
      if (!stream) expect(answer.headers.get('turnpike-loss')).toMatch(/dropped=\d/)
      if (protocol.losses) expect(losses?.map(({ item }) => item)).toContain('option.maxTokens')
    },
  )
})
