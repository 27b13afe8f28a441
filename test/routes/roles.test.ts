import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gate, type HttpEnv, type HttpParts } from '../../routes/index.ts'
import { forAdmins } from '../../routes/refuse.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

/** The status and the body of an answer. */
async function get(url: string, headers: Record<string, string> = {}): Promise<[status: number, body: unknown]> {
  const response = await fetch(url, { headers })
  return [response.status, await response.json()]
}

describe('GET /v1/me', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
server:
  keys:
    - { name: clawops, hash: ${hashOf('user-key')} }
    - { name: operator, hash: ${hashOf('admin-key')}, role: admin }
agents: {}
`)
  })
  afterAll(() => gateway.close())

  test.each([
    ['clawops', 'user-key', 'user'],
    ['operator', 'admin-key', 'admin'],
  ])('tells %s its name and its role', async (key, secret, role) => {
    expect(await get(`${gateway.url}/v1/me`, bearer(secret))).toEqual([200, { role, key, keys: true }])
  })

  test('tells nobody anything without a key', async () => {
    expect(await get(`${gateway.url}/v1/me`)).toEqual([
      401,
      { error: { code: 'unauthenticated', message: 'A key is required: send it as "Authorization: Bearer KEY".' } },
    ])
  })

  test('of a gateway without keys makes everybody an operator', async () => {
    const open = await startGateway('agents: {}')
    expect(await get(`${open.url}/v1/me`, bearer('any'))).toEqual([200, { role: 'admin', keys: false }])
    await open.close()
  })
})

describe('an endpoint for operators', () => {
  const keys = [
    { name: 'clawops', role: 'user' as const, sha256: hashOf('user-key') },
    { name: 'operator', role: 'admin' as const, sha256: hashOf('admin-key') },
  ]

  /** What it answers with, behind a gate with these keys. */
  async function answerOf(rules: typeof keys, headers: Record<string, string>): Promise<[number, unknown]> {
    const parts = { gate: new Gate({ bound: '127.0.0.1', hosts: [], origins: [], keys: rules }) } as HttpParts
    const app = new Hono<HttpEnv>()
    app.get(
      '/',
      forAdmins(parts, (c, { principal }) => c.json({ principal })),
    )
    const server = createServer(getRequestListener((request, env) => app.fetch(request, env as HttpBindings)))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const answer = await get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, headers)
    server.closeAllConnections()
    server.close()
    return answer
  }

  test('serves them', async () => {
    expect(await answerOf(keys, bearer('admin-key'))).toEqual([200, { principal: 'operator' }])
  })

  test('tells others what they need', async () => {
    const message = 'This needs a key with "role: admin", and the key "clawops" has "role: user".'
    expect(await answerOf(keys, bearer('user-key'))).toEqual([403, { error: { code: 'forbidden', message } }])
  })

  test('wants a key', async () => {
    expect((await answerOf(keys, {}))[0]).toBe(401)
  })

  test('serves everybody where there are no keys', async () => {
    expect(await answerOf([], {})).toEqual([200, {}])
  })
})
