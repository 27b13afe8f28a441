import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import type { ErrorCode } from '../../src/model/index.ts'
import { askHttp, CLIENTS, type ClientName, clientNames, clientOf, failureOf } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')

/** What an HTTP agent may do instead of answering. */
const ENGINES: Record<string, (response: ServerResponse) => void> = {
  html: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  empty: (response) => response.end(),
  broken: (response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"secret"}'),
  silent: () => {},
  cut: (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
    response.write('{"protocol_version":"1.0.0","response":{', () => response.destroy())
  },
}

/** Every agent that fails, and the error that its turn ends with, whoever asked. */
const FAILURES: Record<string, ErrorCode> = {
  'zot-missing': 'agent-unavailable',
  'zot-exits': 'agent-unavailable',
  'zot-silent': 'agent-unavailable',
  'zot-rubbish': 'agent-unavailable',
  'zot-dies': 'agent-crashed',
  'zene-missing': 'agent-unavailable',
  'zene-exits': 'agent-crashed',
  'zene-silent': 'timeout',
  'zene-rubbish': 'agent-crashed',
  'zene-dies': 'agent-crashed',
  'agentproc-missing': 'agent-unavailable',
  'agentproc-exits': 'agent-crashed',
  'agentproc-silent': 'timeout',
  'agentproc-dies': 'agent-crashed',
  'openharness-missing': 'agent-unavailable',
  'openharness-html': 'protocol-violation',
  'openharness-empty': 'protocol-violation',
  'openharness-broken': 'agent-crashed',
  'openharness-silent': 'timeout',
  'openharness-cut': 'protocol-violation',
}

describe('agents that fail', () => {
  let gateway: TestGateway
  let engine: Server

  beforeAll(async () => {
    engine = createServer((request, response) => {
      request.resume().on('end', () => ENGINES[request.url!.slice(1)]!(response))
    })
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
    const { port } = engine.address() as AddressInfo
    const engines = Object.keys(ENGINES)
      .map((name) => {
        // The total time is all that bounds an engine which says nothing.
        const limits = name === 'silent' ? ', limits: { total: 500ms }' : ''
        return `  openharness-${name}: { protocol: openharness, url: "http://127.0.0.1:${port}/${name}"${limits} }\n`
      })
      .join('')
    gateway = await startGateway(`
default: helper
limits: { start: 500ms, firstEvent: 500ms, idle: 500ms, total: 5s, grace: 200ms }
agents:${EXAMPLE_AGENTS}
  zot-missing: { protocol: zot, command: /nowhere/zot }
  zot-exits: { protocol: zot, command: ${AGENTS}/exits.sh }
  zot-silent: { protocol: zot, command: ${AGENTS}/silent.sh, args: ["1003"] }
  zot-rubbish: { protocol: zot, command: ${AGENTS}/rubbish.sh }
  zot-dies: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/dies.mjs, zot], limits: { start: 10s } }
  zene-missing: { protocol: zene, command: /nowhere/zene }
  zene-exits: { protocol: zene, command: ${AGENTS}/exits.sh }
  zene-silent: { protocol: zene, command: ${AGENTS}/silent.sh, args: ["1003"] }
  zene-rubbish: { protocol: zene, command: ${AGENTS}/rubbish.sh }
  zene-dies: { protocol: zene, command: ${process.execPath}, args: [${AGENTS}/dies.mjs, zene], limits: { firstEvent: 10s } }
  agentproc-missing: { protocol: agentproc, command: /nowhere/agent }
  agentproc-exits: { protocol: agentproc, command: ${AGENTS}/exits.sh }
  agentproc-silent: { protocol: agentproc, command: ${AGENTS}/silent.sh, args: ["1003"] }
  agentproc-dies: { protocol: agentproc, command: ${process.execPath}, args: [${AGENTS}/dies.mjs, agentproc], limits: { firstEvent: 10s } }
  openharness-missing: { protocol: openharness, url: "http://127.0.0.1:9/" }
${engines}`)
  })
  afterAll(async () => {
    await gateway.close()
    engine.close()
    engine.closeAllConnections()
  })

  for (const front of clientNames) {
    test.each(Object.entries(FAILURES))(`${front} → %s is told %s`, async (agent, code) => {
      const shown = await askHttp(gateway.url, front, { text: 'hi', session: `s-${front}-${agent}`, agent, id: 'r1' })
      expect(shown.ok).toBe(false)
      const client = clientOf(front)
      expect(client.failure(shown.raw)).toBe(await failureOf(front, code))
      // A stream that has begun keeps its 200; whole answers carry the error's status.
      const { http } = (await loadCodec(front.split('@')[0]!))!.errors[code]
      if (client.repeats) expect([http, UNRETRIED]).toContain(shown.status)
      else if (client.whole) expect(shown.status).toBe(http)
      expect(shown.raw).not.toContain('secret')
      const record = [...gateway.engine.turns].length
      expect(record).toBe(0)
    })
  }

  test('nothing of them is left running', async () => {
    await until(() => pidsOf('silent.sh\u00001003').length === 0 && pidsOf('sleep\u00001003').length === 0)
  })
})

interface BadInput {
  name: string
  body(front: ClientName): string
  path?: string
  headers?: Record<string, string>
  status: number
}

/** The status of a failure that no client repeats its request for. */
const UNRETRIED = 400

const turn = (front: ClientName, text: string): string => CLIENTS[front].write({ text, session: 's', id: 'r1' })

const BAD_INPUTS: BadInput[] = [
  { name: 'nothing', body: () => '', status: 400 },
  { name: 'half a JSON', body: () => '{"a":', status: 400 },
  { name: 'an array', body: () => '[]', status: 400 },
  { name: 'a number', body: () => '7', status: 400 },
  { name: 'an empty object', body: () => '{}', status: 400 },
  { name: 'too much', body: (front) => turn(front, 'x'.repeat(20_000)), status: 413 },
  { name: 'an unknown agent', body: (front) => turn(front, 'hi'), path: '/nobody', status: 404 },
  {
    name: 'the wrong type',
    body: (front) => turn(front, 'hi'),
    headers: { 'content-type': 'text/xml' },
    status: 415,
  },
  {
    name: 'a page of another site',
    body: (front) => turn(front, 'hi'),
    headers: { origin: 'http://evil.example' },
    status: 403,
  },
]

/** What each path allows. */
const ALLOWED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(CLIENTS).map(({ path }) => [path, 'POST OPTIONS'])),
  '/v1/turns': 'GET HEAD POST OPTIONS',
  '/v1/turns/t': 'GET HEAD POST DELETE OPTIONS',
  '/v1/turns/t/wire': 'GET HEAD OPTIONS',
  '/v1/turns/t/events': 'GET HEAD OPTIONS',
  '/v1/sessions/s': 'GET HEAD DELETE OPTIONS',
  '/v1/stdio/zot': 'POST OPTIONS',
  '/v1/agents': 'GET HEAD OPTIONS',
  '/v1/overview': 'GET HEAD OPTIONS',
  '/openapi.json': 'GET HEAD OPTIONS',
  '/docs': 'GET HEAD OPTIONS',
  '/v1/doors': 'GET HEAD OPTIONS',
  '/v1/matrix': 'GET HEAD OPTIONS',
  '/healthz': 'GET HEAD OPTIONS',
  '/readyz': 'GET HEAD OPTIONS',
  '/': 'GET HEAD OPTIONS',
}

describe('bad input gets the own error of the front', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nlimits: { body: 10KiB, line: 10KiB }\nagents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => gateway.close())

  for (const front of clientNames) {
    test.each(BAD_INPUTS)(`${front}: $name`, async ({ body, path = '', headers, status }) => {
      const response = await fetch(`${gateway.url}${CLIENTS[front].path}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: body(front),
      })
      const raw = await response.text()
      expect({ status: response.status, own: CLIENTS[front].refuses(raw), raw }).toEqual({ status, own: true, raw })
      const next = await askHttp(gateway.url, front, { text: 'still there', session: `after-${front}`, id: 'r2' })
      expect(next.ok).toBe(true)
    })
  }

  test.each([
    ['PATCH', 405],
    ['PUT', 405],
    ['OPTIONS', 204],
  ])('%s on any path is %i and names what is allowed, with a slash at the end too', async (method, status) => {
    for (const [path, allow] of Object.entries(ALLOWED)) {
      for (const asked of path === '/' ? [path] : [path, `${path}/`]) {
        const response = await fetch(gateway.url + asked, { method })
        const allowed = response.headers.get('allow')?.split(', ').sort()
        expect({ asked, status: response.status, allowed }).toEqual({ asked, status, allowed: allow.split(' ').sort() })
      }
    }
  })

  test('HEAD is the head of GET without its body, and only where there is a GET', async () => {
    const turn = await fetch(`${gateway.url}/v1/turns`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"hello","session":{"id":"head"}}',
    })
    const id = turn.headers.get('turnpike-turn')!
    await turn.text()
    const own = [`/v1/turns/${id}`, `/v1/turns/${id}/events`, '/v1/sessions/head', '/v1/turns?follow=1']
    for (const path of [...Object.keys(ALLOWED), ...own]) {
      const isGet = own.includes(path) || ALLOWED[path]!.includes('GET')
      const response = await fetch(gateway.url + path, { method: 'HEAD' })
      const type = response.headers.get('content-type')
      expect({ path, body: await response.text() }).toEqual({ path, body: '' })
      if (!isGet) {
        expect({ path, status: response.status }).toEqual({ path, status: 405 })
        continue
      }
      const reading = new AbortController()
      const full = await fetch(gateway.url + path, { signal: reading.signal })
      expect({ path, status: response.status, type }).toEqual({
        path,
        status: full.status,
        type: full.headers.get('content-type'),
      })
      reading.abort()
    }
  })

  test('a slash at the end of a path means the same without it', async () => {
    const turn = { text: 'hello', session: 'slash', id: 'r1' }
    for (const front of clientNames) {
      const response = await fetch(`${gateway.url}${CLIENTS[front].path}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: CLIENTS[front].write(turn),
      })
      expect({ front, ok: CLIENTS[front].read(await response.text(), turn).ok }).toEqual({ front, ok: true })
    }
    expect(await (await fetch(`${gateway.url}/healthz/`)).json()).toEqual({ status: 'ok' })
  })
})
