import { createHash } from 'node:crypto'
import { request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gate } from '../../routes/index.ts'
import { Limiter } from '../../routes/limiter.ts'
import { CLIENTS, type ClientName, clientNames, clientOf, failureOf } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname
const JSON_TYPE = { 'content-type': 'application/json' }

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const slowKey = (front: ClientName): string => `slow-${front.replace(/\W/g, '-')}`

/** An answer without what `fetch` hides or forbids: any Host may be sent. */
function get(url: string, headers: Record<string, string>, method = 'GET'): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    call.on('error', reject).end()
  })
}

describe('keys', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    process.env['KEYS_TEST'] = 'plain-key'
    const slow = clientNames.map(
      (front) =>
        `    - { name: ${slowKey(front)}, hash: ${hashOf(slowKey(front))}, limits: { perMinute: 2, burst: 1 } }\n`,
    )
    gateway = await startGateway(`
server:
  origins: ["https://app.example"]
  hosts: [Gateway.Example, 'Ported.Example:8443']
  keys:
    - { name: plain, env: KEYS_TEST }
    - { name: hashed, hash: "sha256:${hashOf('hashed-key')}", agents: ["h*"] }
    - { name: narrow, hash: ${hashOf('narrow-key')}, fronts: [zene, "qwen*"] }
    - { name: busy, hash: ${hashOf('busy-key')}, limits: { turns: 1 } }
${slow.join('')}
default: helper
limits: { grace: 200ms }
agents:${EXAMPLE_AGENTS}
  hollow: { protocol: zot, command: /nowhere/zot }
  sleeper: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["1011"] }
routes: [{ when: { session: "falling" }, agent: hollow, fallback: [coder, helper] }]
`)
  })
  afterAll(async () => {
    delete process.env['KEYS_TEST']
    await gateway.close()
  })

  const post = (path: string, body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(gateway.url + path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body })
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

  test.each([
    ['in the environment', { authorization: 'Bearer plain-key' }, 200],
    ['as a hash in the file', { 'x-api-key': 'hashed-key' }, 200],
    ['that is unknown', { authorization: 'Bearer plain-kez' }, 401],
    ['that is the hash itself', { authorization: `Bearer ${hashOf('hashed-key')}` }, 401],
    ['that is missing', {}, 401],
  ])('a key %s', async (_name, headers, status) => {
    const response = await fetch(`${gateway.url}/v1/agents`, { headers })
    expect(response.status).toBe(status)
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  })

  test('limited to some agents shows and serves those, also where a route falls back to others', async () => {
    const { agents } = (await (await fetch(`${gateway.url}/v1/agents`, { headers: bearer('hashed-key') })).json()) as {
      agents: { name: string }[]
    }
    expect(agents.map(({ name }) => name)).toEqual(['helper', 'hollow'])
    const refused = await post('/v1/turns/coder', '{"input":"hi"}', bearer('hashed-key'))
    expect([refused.status, await refused.json()]).toMatchObject([403, { fault: { code: 'forbidden' } }])
    const fallen = await post('/v1/turns', '{"input":"hi","session":{"id":"falling"}}', bearer('hashed-key'))
    expect(await fallen.json()).toMatchObject({ outcome: 'completed', text: 'Turn 1 of this session. You said:\n> hi' })
    const free = await post('/v1/turns', '{"input":"hi","session":{"id":"falling"}}', bearer('plain-key'))
    expect(await free.json()).toMatchObject({ outcome: 'completed', text: 'You said: hi (turn 1 of this session)' })
  })

  test('limited to some fronts is refused by the others, in their own words', async () => {
    const zene = CLIENTS.zene.write({ text: 'hi', session: 's' })
    expect((await post('/v1/zene', zene, bearer('narrow-key'))).status).toBe(200)
    const native = await post('/v1/turns', '{"input":"hi"}', bearer('narrow-key'))
    expect([native.status, await native.json()]).toMatchObject([403, { type: 'fault', fault: { code: 'forbidden' } }])
    const standIn = await post('/v1/stdio/zot', '{"argv":["zot"]}\n', bearer('narrow-key'))
    expect([standIn.status, await standIn.json()]).toEqual([
      403,
      { error: { code: 'forbidden', message: 'This key may not use the protocol "zot".' } },
    ])
  })

  test.each(clientNames)('a key that sends too much is told so by %s, and when to come again', async (front) => {
    const { path } = CLIENTS[front]
    const ask = (): Promise<Response> =>
      post(path, CLIENTS[front].write({ text: 'hi', session: 'rate', id: 'r1' }), bearer(slowKey(front)))
    const [first, second] = [await ask(), await ask()]
    await first.text()
    const raw = await second.text()
    expect([first.status, second.status, second.headers.get('retry-after')]).toEqual([200, 429, '30'])
    expect(clientOf(front).failure(raw)).toBe(await failureOf(front, 'overloaded'))
    expect(raw).toContain('too many requests')
  })

  test('may have as many turns under way as it says, and others as many as they like', async () => {
    const begin = (key: string): Promise<Response> =>
      post('/v1/turns/sleeper', '{"input":"hi"}', { ...bearer(key), prefer: 'respond-async' })
    const first = await begin('busy-key')
    const { id } = (await first.json()) as { id: string }
    expect(first.status).toBe(202)
    const [second, other] = [await begin('busy-key'), await begin('plain-key')]
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await second.json()).toMatchObject({ fault: { code: 'overloaded', retryable: true } })
    expect(other.status).toBe(202)
    await post(`/v1/turns/${id}/cancel`, '', bearer('busy-key'))
    await until(async () => (await begin('busy-key')).status === 202)
    for (const turn of gateway.engine.turns) turn.cancel()
    await until(() => pidsOf('silent.sh\u00001011').length === 0)
  })

  test.each([
    ['this machine', { host: 'localhost' }, 200],
    ['an address of it', { host: '127.0.0.1:8484' }, 200],
    ['a configured name, in any case', { host: 'GATEWAY.example:80' }, 200],
    ['a configured name with its port', { host: 'ported.example:8443' }, 200],
    ['the same name with another port', { host: 'ported.example' }, 403],
    ['a page of it', { origin: 'https://ported.example:8443' }, 200],
    ['another name', { host: 'evil.example' }, 403],
    ['a name that only begins like this machine', { host: 'localhost.evil.example' }, 403],
    ['a page of this machine', { origin: 'http://localhost:3000' }, 200],
    ['a configured page', { origin: 'https://app.example' }, 200],
    ['a configured page on another port', { origin: 'https://app.example:444' }, 403],
    ['another page', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
  ])('a request that names %s', async (_name, headers, status) => {
    expect((await get(`${gateway.url}/v1/agents`, { ...headers, ...bearer('plain-key') })).status).toBe(status)
  })

  test('a web page may read answers when it is configured, and no other', async () => {
    const ask = (origin: string, method: string): Promise<Response> =>
      fetch(`${gateway.url}/v1/turns`, {
        method,
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      })
    const before = await ask('https://app.example', 'OPTIONS')
    expect([before.status, ...corsOf(before)]).toEqual([
      204,
      'https://app.example',
      'GET, POST, DELETE',
      'authorization,content-type',
      'Origin',
    ])
    const after = await ask('https://app.example', 'GET')
    expect([after.status, ...corsOf(after)]).toEqual([401, 'https://app.example', null, null, 'Origin'])
    const [evil, local] = [await ask('https://evil.example', 'OPTIONS'), await ask('http://localhost:1', 'GET')]
    expect([...corsOf(evil), ...corsOf(local)]).toEqual(Array(8).fill(null))
  })

  test.each(['/', '/healthz', '/v1/agents', '/v1/turns', '/nowhere'])(
    '%s has the headers of every answer',
    async (path) => {
      const { headers } = await fetch(gateway.url + path)
      const names = ['x-content-type-options', 'cache-control', 'content-security-policy', 'referrer-policy']
      expect(names.map((name) => headers.get(name))).toEqual([
        'nosniff',
        'no-store',
        "default-src 'none'; frame-ancestors 'none'",
        'no-referrer',
      ])
      expect(headers.get('x-powered-by')).toBeNull()
    },
  )
})

function corsOf({ headers }: Response): (string | null)[] {
  const names = ['allow-origin', 'allow-methods', 'allow-headers'].map((name) => `access-control-${name}`)
  return [...names, 'vary'].map((name) => headers.get(name))
}

describe('rates', () => {
  const rate = fc.record({ perMinute: fc.integer({ min: 1, max: 6000 }), burst: fc.integer({ min: 1, max: 50 }) })

  test('let through at most a burst and what the time since has earned, and keep their word about the wait', () => {
    fc.assert(
      fc.property(rate, fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 }), (limit, pauses) => {
        let now = 0
        let taken = 0
        const limiter = new Limiter(() => now)
        for (const pause of pauses) {
          now += pause
          const wait = limiter.take('a', limit)
          if (wait === 0) taken += 1
          else {
            now += wait * 1000
            expect(limiter.take('a', limit)).toBe(0)
            taken += 1
          }
          expect(taken).toBeLessThanOrEqual(limit.burst + (now * limit.perMinute) / 60_000 + 1e-6)
        }
      }),
      { numRuns: 100 },
    )
  })

  test('are kept for each key, also over a reload', () => {
    const keys = ['a', 'b'].map((name) => ({
      name,
      role: 'user' as const,
      sha256: hashOf(name),
      rate: { perMinute: 1, burst: 1 },
    }))
    const access = { hosts: [], origins: [], keys }
    const gate = new Gate({ ...access, bound: '127.0.0.1' }, () => 0)
    const codeOf = (key: string): string | undefined => {
      const admitted = gate.admit({ authorization: `Bearer ${key}` }, undefined)
      return 'fault' in admitted ? admitted.fault.code : undefined
    }
    expect([codeOf('a'), codeOf('a'), codeOf('b')]).toEqual([undefined, 'overloaded', undefined])
    gate.reload(access)
    expect([codeOf('a'), codeOf('b')]).toEqual(['overloaded', 'overloaded'])
    gate.reload({ ...access, keys: keys.slice(1) })
    expect([codeOf('a'), codeOf('b')]).toEqual(['unauthenticated', 'overloaded'])
  })
})
