import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gate } from '../../routes/gate.ts'
import { headersOf, unreadableBody, writeHeaders } from '../../routes/headers.ts'
import { mountMethods } from '../../routes/methods.ts'
import type { HttpEnv } from '../../routes/parts.ts'

describe('a body', () => {
  test.each([
    [{}],
    [{ 'content-encoding': 'identity' }],
    [{ 'content-encoding': 'Identity' }],
    [{ 'content-type': 'application/json' }],
    [{ 'content-type': 'application/json; charset=utf-8' }],
    [{ 'content-type': 'application/json;charset="UTF-8"' }],
    [{ 'content-type': 'text/plain; format=flowed; charset = utf8' }],
    [{ 'content-type': 'text/plain; charset=us-ascii' }],
  ])('with headers %j can be read', (headers) => {
    expect(unreadableBody(headers)).toBeUndefined()
  })

  test.each([
    [{ 'content-encoding': 'gzip' }, 'Compressed bodies are not supported'],
    [{ 'content-encoding': 'gzip, identity' }, 'Compressed bodies are not supported'],
    [{ 'content-encoding': '' }, 'Compressed bodies are not supported'],
    [{ 'content-type': 'text/plain; charset=latin1' }, 'Only UTF-8 bodies are supported'],
    [{ 'content-type': 'text/plain; charset="utf-16"' }, 'Only UTF-8 bodies are supported'],
    [{ 'content-type': 'text/plain; charset=utf-8x' }, 'Only UTF-8 bodies are supported'],
    [{ 'content-type': 'text/plain; charset=' }, 'Only UTF-8 bodies are supported'],
  ])('with headers %j cannot', (headers, why) => {
    expect(unreadableBody(headers)).toMatchObject({ code: 'invalid-request', message: expect.stringContaining(why) })
  })
})

describe('the headers of an answer', () => {
  let server: Server
  const gate = new Gate({ bound: '127.0.0.1', hosts: [], origins: ['https://app.example'], keys: [] })

  beforeAll(async () => {
    server = createServer((incoming, outgoing) => {
      if (!writeHeaders(gate, incoming, outgoing)) outgoing.end(JSON.stringify(headersOf(incoming)))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    server.close()
    await once(server, 'close')
  })

  async function ask(method: string, headers: Record<string, string | string[]>) {
    const { port } = server.address() as AddressInfo
    const sent = request({ port, host: '127.0.0.1', method, headers, agent: false }).end()
    const [answer] = await once(sent, 'response')
    let body = ''
    for await (const chunk of answer) body += chunk
    return { status: answer.statusCode as number, headers: answer.headers as Record<string, string>, body }
  }

  test('keep browsers from running, embedding or keeping it', async () => {
    const { status, headers } = await ask('GET', {})
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('let pages of a configured origin read it', async () => {
    const { headers } = await ask('GET', { origin: 'https://app.example' })
    expect(headers).toMatchObject({ 'access-control-allow-origin': 'https://app.example', vary: 'Origin' })
    expect(headers['access-control-expose-headers']).toContain('Turnpike-Turn')
    expect((await ask('GET', { origin: 'https://other.example' })).headers).not.toHaveProperty('vary')
  })

  test('answer a preflight request of such a page, and of no other', async () => {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-own, content-type' }
    const preflight = await ask('OPTIONS', { origin: 'https://app.example', ...asked })
    expect([preflight.status, preflight.body]).toEqual([204, ''])
    expect(preflight.headers).toMatchObject({
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'x-own, content-type',
      'access-control-max-age': '600',
    })
    expect((await ask('OPTIONS', { origin: 'https://other.example', ...asked })).status).toBe(200)
    expect((await ask('OPTIONS', { origin: 'https://app.example' })).status).toBe(200)
  })

  test('of a request have lower-case names, and repeated ones are joined', async () => {
    const { body } = await ask('GET', { 'X-Own': 'a', 'Set-Cookie': ['one', 'two'] })
    expect(JSON.parse(body)).toMatchObject({ 'x-own': 'a', 'set-cookie': 'one, two' })
  })
})

describe('methods without a handler', () => {
  const app = new Hono<HttpEnv>()
  app.get('/a', (c) => c.text('got'))
  app.post('/a', (c) => c.text('posted'))
  app.get('/v1/:turn/x', (c) => c.text('turn'))
  app.delete('/v1/:session/x', (c) => c.text('session'))
  app.post('/b', (c) => c.text('b'))
  mountMethods(app)

  test.each([
    ['GET', '/a', 200],
    ['POST', '/a', 200],
    ['DELETE', '/v1/7/x', 200],
    ['GET', '/nothing', 404],
  ])('%s %s is answered as before', async (method, path, status) => {
    expect((await app.request(path, { method })).status).toBe(status)
  })

  test.each([
    ['PUT', '/a', 'GET, POST, HEAD, OPTIONS', 'GET or POST'],
    ['PATCH', '/b', 'POST, OPTIONS', 'POST'],
    ['POST', '/v1/7/x', 'GET, DELETE, HEAD, OPTIONS', 'GET or DELETE'],
  ])('%s %s is refused with those that there are', async (method, path, allow, use) => {
    const answer = await app.request(path, { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    expect(await answer.json()).toEqual({
      error: { code: 'method_not_allowed', message: `This path does not support the method; use ${use}.` },
    })
  })

  test('OPTIONS tells them', async () => {
    const answer = await app.request('/a', { method: 'OPTIONS' })
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([
      204,
      'GET, POST, HEAD, OPTIONS',
      '',
    ])
  })
})
