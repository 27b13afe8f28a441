import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer } from '../../src/server.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const KEYS = `
server:
  keys:
    - { name: ops, hash: ${hashOf('ops-key')}, role: admin }
    - { name: slow, hash: ${hashOf('slow-key')}, limits: { perMinute: 1, burst: 1 } }
agents:${EXAMPLE_AGENTS}`

/** A folder that stands for the built console. */
function built(): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-console-'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'console-AB12.js'), 'export {}')
  writeFileSync(join(folder, 'secret.txt'), 'no')
  mkdirSync(join(folder, 'folder.js'))
  return folder
}

const folder = built()
afterAll(() => rmSync(folder, { recursive: true }))

describe('the files of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(`agents:${EXAMPLE_AGENTS}`, {
      console: { folder, traces: 'https://ui.example/{trace}' },
    })
  })
  afterAll(() => gateway.close())
  const get = (path: string): Promise<Response> => fetch(gateway.url + path, { redirect: 'manual' })

  test('the page is at /console/, without inline code or other servers', async () => {
    const redirect = await get('/console')
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'console/'])
    const page = await get('/console/')
    expect([page.status, await page.text()]).toEqual([200, '<!doctype html>'])
    const headers = [
      'content-type',
      'cache-control',
      'content-security-policy',
      'x-content-type-options',
      'referrer-policy',
    ]
    expect(headers.map((name) => page.headers.get(name))).toEqual([
      'text/html; charset=utf-8',
      'no-cache',
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      'nosniff',
      'no-referrer',
    ])
  })

  test('its parts are kept by browsers for ever, because their names change with them', async () => {
    const script = await get('/console/console-AB12.js')
    expect([script.status, await script.text()]).toEqual([200, 'export {}'])
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  })

  test.each([
    'index.html',
    'console.js',
    'secret.txt',
    'folder.js',
    '..%2Fsecret.txt',
    '%2Fetc%2Fpasswd',
    '.hidden.js',
    'a/b.js',
  ])('there is no file %s', async (name) => {
    const response = await get(`/console/${name}`)
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
  })

  test('its settings name the version and the pages of traces', async () => {
    expect(await (await get('/console/settings')).json()).toEqual({
      version: '0',
      command: 'turnpike',
      traces: 'https://ui.example/{trace}',
    })
  })

  test('HEAD and other methods are answered as elsewhere', async () => {
    const head = await fetch(`${gateway.url}/console/`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(`${gateway.url}/console/`, { method: 'POST' })).status).toBe(405)
  })
})

test('a gateway without a console has none of its paths', async () => {
  const gateway = await startGateway(`agents:${EXAMPLE_AGENTS}`)
  for (const path of ['/console', '/console/', '/console/settings'])
    expect((await fetch(gateway.url + path)).status).toBe(404)
  expect((await fetch(`${gateway.url}/console/login`, { method: 'POST' })).status).toBe(404)
  await gateway.close()
})

describe('logins', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(KEYS, { console: { folder } })
  })
  afterAll(() => gateway.close())

  const OWN = { 'sec-fetch-site': 'same-origin' }
  const send = (path: string, headers: Record<string, string>, body?: string, method = 'POST'): Promise<Response> =>
    fetch(gateway.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    })
  const logIn = (key: string): Promise<Response> => send('/console/login', OWN, JSON.stringify({ key }))
  const cookieOf = (response: Response): string => response.headers.get('set-cookie')!.split(';')[0]!

  test('a login is a cookie that stands for its key, until the log-out', async () => {
    const response = await logIn('ops-key')
    expect(response.status).toBe(204)
    const cookie = cookieOf(response)
    expect(cookie).not.toContain('ops-key')
    const me = (): Promise<Response> => send('/v1/me', { ...OWN, cookie }, undefined, 'GET')
    expect(await (await me()).json()).toEqual({ role: 'admin', key: 'ops', keys: true })
    const turn = await send('/v1/turns/helper', { ...OWN, cookie }, '{"input":"hi"}')
    expect(await turn.json()).toMatchObject({ outcome: 'completed' })
    const out = await send('/console/logout', { ...OWN, cookie }, '')
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      'turnpike=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    ])
    expect((await me()).status).toBe(401)
  })

  test('the cookie does nothing for other pages, and a key in a header counts instead of it', async () => {
    const cookie = cookieOf(await logIn('ops-key'))
    const foreign = { cookie, 'sec-fetch-site': 'cross-site' }
    expect((await send('/v1/turns/helper', foreign, '{"input":"hi"}')).status).toBe(401)
    expect((await send('/v1/me', foreign, undefined, 'GET')).status).toBe(401)
    const wrong = await send('/v1/me', { ...OWN, cookie, authorization: 'Bearer no-key' }, undefined, 'GET')
    expect(wrong.status).toBe(401)
  })

  test.each([
    ['a page elsewhere', { 'sec-fetch-site': 'cross-site' }, '{"key":"ops-key"}', 403],
    ['a request that says nothing of its page', {}, '{"key":"ops-key"}', 403],
    ['a wrong key', OWN, '{"key":"none"}', 401],
    ['an empty key', OWN, '{"key":""}', 401],
    ['no key', OWN, '{}', 400],
    ['a key that is no text', OWN, '{"key":1}', 400],
    ['no JSON', OWN, 'key=ops-key', 400],
    ['a form', { ...OWN, 'content-type': 'application/x-www-form-urlencoded' }, '{"key":"ops-key"}', 400],
    ['a long body', OWN, JSON.stringify({ key: 'x'.repeat(5000) }), 400],
  ])('%s does not log in', async (_name, headers, body, status) => {
    const response = await send('/console/login', headers, body)
    expect([response.status, response.headers.get('set-cookie')]).toEqual([status, null])
  })

  test('a page elsewhere cannot log out', async () => {
    const cookie = cookieOf(await logIn('ops-key'))
    expect((await send('/console/logout', { cookie, 'sec-fetch-site': 'cross-site' }, '')).status).toBe(403)
    expect((await send('/v1/me', { ...OWN, cookie }, undefined, 'GET')).status).toBe(200)
  })

  test('a login counts as a request of its key, and its requests are limited like those of the key', async () => {
    const cookie = cookieOf(await logIn('slow-key'))
    const limited = await send('/v1/me', { ...OWN, cookie }, undefined, 'GET')
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
  })

  test('a login ends when its key is removed', async () => {
    const { engine, config } = gateway
    const parts = { engine, codecs: [], version: '0', command: 'turnpike', console: { folder } }
    const server = await startServer({ ...config.server, port: 0 }, parts)
    const login = await fetch(`${server.url}/console/login`, {
      method: 'POST',
      headers: { ...OWN, 'content-type': 'application/json' },
      body: '{"key":"ops-key"}',
    })
    const cookie = cookieOf(login)
    const status = async (): Promise<number> =>
      (await fetch(`${server.url}/v1/me`, { headers: { ...OWN, cookie } })).status
    expect(await status()).toBe(200)
    server.reload({ ...config.server, keys: config.server.keys.slice(1) })
    expect(await status()).toBe(401)
    await server.close()
  })
})
