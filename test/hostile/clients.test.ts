import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, clientNames } from '../kit/clients.ts'
import { AGENTS, ROOT } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { type Held, PIPE_FILES, type Served, serve, Wire } from './served.ts'

const KIT = join(ROOT, 'test/kit/agents')
const MIB = 1024 * 1024
/** What a gateway may keep of its memory after a storm: pages that its runtime has not given back. */
const MARGIN = 256 * MIB

/** Clients that read nothing: their turns together have less than the gateway lets turns have. */
const UNREAD = 5

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const BODY = `{"input":"hi"}`

/** Writes 400 MiB of an answer in pieces, as fast as it is read. */
const FLOOD = `yes 'AGENT_PARTIAL:"${'x'.repeat(1000)}"' | head -n 400000`

/** Agents may be slow on a busy machine: the gateway's own limit is for clients here. */
const PATIENT = 'limits: { idle: 60s }'

let gateway: Served
let before: Held

beforeAll(async () => {
  gateway = await serve(`
server:
  port: 0
  socket: false
  limits: { headers: 1500ms, body: 2s, connections: 500 }
  keys: [{ name: a, hash: ${hashOf('key-a')} }, { name: b, hash: ${hashOf('key-b')} }]
default: helper
limits: { start: 20s, firstEvent: 20s, idle: 2s, total: 2m, grace: 200ms, body: 100KiB, line: 100KiB }
agents:
  helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [], ${PATIENT} }
  coder: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc], pool: { idle: 100ms }, ${PATIENT} }
  flood: { protocol: agentproc, command: /bin/sh, args: [-c, ${JSON.stringify(FLOOD)}], max_reply_chars: 100000000, ${PATIENT} }
  silent: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["1013"], ${PATIENT} }
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true, ${PATIENT} }
  engine: { protocol: openharness, url: "http://127.0.0.1:9/" }
log: { level: warn, pretty: false }
store: { path: ./turnpike.db }
`)
  expect((await turn('warm')).status).toBe(200)
  before = gateway.held()
}, 60_000)
afterAll(() => gateway.stop())

/** Whatever was done to it, the gateway lives, serves the next client, and holds no more than before. */
afterEach(async () => {
  expect(gateway.process.exitCode).toBe(null)
  const next = await turn('next')
  expect([next.status, (await next.json()) as object]).toMatchObject([200, { outcome: 'completed' }])
  await until(() => {
    const { files, children } = gateway.held()
    // The connection that we keep ourselves, one that is being closed, and the pipes of an agent to come.
    return files <= before.files + 2 + PIPE_FILES && children <= before.children
  })
  expect(gateway.held().rss).toBeLessThan(before.rss + MARGIN)
})

const headers = (key = 'a', more: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/json',
  authorization: `Bearer key-${key}`,
  connection: 'close',
  ...more,
})
const send = (path: string, body: string, { key = 'a', method = 'POST', more = {} } = {}): Promise<Response> =>
  fetch(gateway.url + path, {
    method,
    headers: headers(key, more),
    ...(method === 'POST' && { body }),
  })
const turn = (session: string): Promise<Response> =>
  send('/v1/turns', JSON.stringify({ input: 'hi', session: { id: session } }))
/** The head of a request, without the empty line. */
const head = (path: string, ...lines: string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Authorization: Bearer key-a', ...lines, ''].join('\r\n')
const JSON_LINE = 'Content-Type: application/json'

describe('clients that are slow', () => {
  const UNWANTED: readonly [method: string, path: string, status: number][] = [
    ['POST', '/v1/nothing', 404],
    ['PUT', '/v1/turns', 405],
    ['GET', '/healthz', 200],
    ['GET', '/v1/agents', 401],
    ['POST', '/v1/stdio/nothing', 401],
    ['POST', '/v1/turns', 417],
  ]
  /** All of them run into a limit, so they do it at the same time. */
  const wires = new Map<string, Promise<Wire>>()

  /** Sends a request whose body comes a space at a time, until the gateway closes. */
  async function dripping(start: string): Promise<Wire> {
    const wire = new Wire(gateway.port).write(start)
    const drip = setInterval(() => wire.write(' '), 100)
    await wire.closed
    clearInterval(drip)
    return wire
  }
  /** Sends the beginning of a request and no more, until the gateway closes. */
  async function stuck(start: string): Promise<Wire> {
    const wire = new Wire(gateway.port).write(start)
    await wire.closed
    return wire
  }

  beforeAll(() => {
    for (let at = 0; at < 20; at += 1) wires.set(`headers ${at}`, stuck(head('/v1/turns')))
    for (const front of clientNames) {
      wires.set(front, dripping(`${head(CLIENTS[front].path, JSON_LINE, 'Content-Length: 1000')}\r\n{"a`))
    }
    for (const [method, path, status] of UNWANTED) {
      const expectation = status === 417 ? 'Expect: nothing\r\n' : ''
      const start = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${expectation}Content-Length: 100000\r\n\r\n`
      wires.set(`${method} ${path}`, dripping(start))
    }
    wires.set('stand-in', stuck(`${head('/v1/stdio/zot', 'Transfer-Encoding: chunked')}\r\n1\r\n{\r\n`))
  })

  test('with their headers are cut off', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => wires.get(`headers ${at}`)!))
    expect(all.map(({ statuses }) => statuses)).toEqual(Array(20).fill([408]))
  })

  test.each(clientNames)('with their body are told so by %s, and cut off', async (front) => {
    const wire = await wires.get(front)!
    expect(wire.statuses).toEqual([408])
    expect(wire.text).toContain('The request body timed out')
  })

  test.each(UNWANTED)(
    'with a body that is not wanted are cut off after their answer: %s %s',
    async (method, path, status) => {
      expect((await wires.get(`${method} ${path}`)!).statuses).toEqual([status])
    },
  )

  test('with the first line of a stand-in are cut off', async () => {
    expect((await wires.get('stand-in')!).text).toContain('HTTP/1.1 200')
  })

  test('and never read their answer are dropped, while others are served and memory stays flat', async () => {
    const wires = Array.from({ length: UNREAD }, (_, at) => {
      const wire = new Wire(gateway.port)
      wire.socket.pause()
      const body = JSON.stringify({ input: 'hi', session: { id: `unread-${at}` } })
      wire.write(
        `${head('/v1/turns/flood', JSON_LINE, 'Accept: application/x-ndjson', `Content-Length: ${body.length}`)}\r\n${body}`,
      )
      return wire
    })
    let peak = 0
    const watch = setInterval(() => {
      peak = Math.max(peak, gateway.held().rss)
    }, 20)
    await until(() => gateway.held().children >= before.children + UNREAD)
    expect((await turn('meanwhile')).status).toBe(200)
    // They are let go when they have read nothing for the idle limit.
    await until(() => gateway.held().children <= before.children)
    clearInterval(watch)
    for (const { socket } of wires) socket.destroy()
    // The answers have 400 MB each.
    expect(peak).toBeLessThan(before.rss + 2 * MARGIN)
    const states = async (): Promise<string[]> => {
      const { turns } = (await (await send('/v1/turns', '', { method: 'GET' })).json()) as {
        turns: { session: string; state: string }[]
      }
      return turns.filter(({ session }) => session.startsWith('unread')).map(({ state }) => state)
    }
    await until(async () => !(await states()).includes('running'))
    expect(await states()).toEqual(Array(UNREAD).fill('cancelled'))
  })
})

describe('clients that leave', () => {
  test('in the middle of their body take nothing with them', async () => {
    const wires = clientNames.map((front) =>
      new Wire(gateway.port).write(`${head(CLIENTS[front].path, JSON_LINE, 'Content-Length: 1000')}\r\n{"a`),
    )
    for (const { socket } of wires) socket.end()
    await Promise.all(wires.map(({ closed }) => closed))
  })

  test('a thousand times, at once or in the middle of a request, take nothing with them', async () => {
    for (let round = 0; round < 10; round += 1) {
      const wires = Array.from({ length: 100 }, () => new Wire(gateway.port))
      await Promise.all(
        wires.map(async ({ socket }, at) => {
          await new Promise((resolve) => socket.once('connect', resolve))
          if (at % 2 === 0) socket.write(`${head('/v1/turns', JSON_LINE, 'Content-Length: 9')}\r\n{`)
          if (at % 4 < 2) socket.resetAndDestroy()
          else socket.destroy()
        }),
      )
    }
  })

  test('and come back to a turn a hundred at a time leave it alone', async () => {
    const begun = await send('/v1/turns/silent', BODY, { more: { prefer: 'respond-async' } })
    const { id } = (await begun.json()) as { id: string }
    for (const after of ['0', '1', '99', 'x', '-1']) {
      const all = Array.from({ length: 20 }, () => follow(id, after))
      await Promise.all(all.map(({ begun: first }) => first))
      for (const { leave } of all) leave()
    }
    const seen = (await (await send(`/v1/turns/${id}`, '', { method: 'GET' })).json()) as { state: string }
    expect(seen.state).toBe('running')
    await send(`/v1/turns/${id}/cancel`, '')
    await until(async () => {
      const now = await (await send(`/v1/turns/${id}`, '', { method: 'GET' })).text()
      return now.includes('"state":"cancelled"')
    })
    const replays = await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        const more = { accept: 'text/event-stream', 'last-event-id': String(at % 2) }
        return (await send(`/v1/turns/${id}/events`, '', { method: 'GET', more })).text()
      }),
    )
    expect(new Set(replays).size).toBe(2)
    expect(replays.every((text) => text.match(/event: turn-end/g)?.length === 1)).toBe(true)
  })

  function follow(id: string, after: string): { begun: Promise<void>; leave(): void } {
    const more = { accept: 'text/event-stream', 'last-event-id': after }
    const call = request(`${gateway.url}/v1/turns/${id}/events`, { headers: headers('a', more) })
    call.on('error', () => {})
    // Nothing may be left to show: then the head comes with the next event, or never.
    const begun = new Promise<void>((resolve) => {
      call.on('response', (response) => response.resume().on('error', () => {}))
      call.on('finish', resolve)
    })
    call.end()
    return { begun, leave: () => call.destroy() }
  }
})

describe('clients that send what they should not', () => {
  const ask = (text: string): Promise<Wire> => {
    const wire = new Wire(gateway.port).write(text)
    return wire.closed.then(() => wire)
  }

  test.each<[string, () => string, number | string]>([
    ['headers that are too long', () => `${head('/v1/turns', `X-Long: ${'x'.repeat(100_000)}`)}\r\n`, 431],
    ['a path that is too long', () => `${head(`/${'x'.repeat(100_000)}`)}\r\n`, 431],
    ['ten thousand headers', () => `${head('/v1/turns', ...Array(10_000).fill('a: b'))}\r\n`, 431],
    ['two lengths', () => `${head('/v1/turns', 'Content-Length: 2', 'Content-Length: 3')}\r\n{}`, 400],
    ['a length and chunks', () => `${head('/v1/turns', 'Content-Length: 2', 'Transfer-Encoding: chunked')}\r\n{}`, 400],
    ['a chunk of no length', () => `${head('/v1/turns', JSON_LINE, 'Transfer-Encoding: chunked')}\r\nxyz\r\n`, 400],
    ['a header over two lines', () => `${head('/v1/turns', 'X-A: b\r\n c')}\r\n`, 400],
    ['a NUL in a header', () => `${head('/v1/turns', 'X-A: b\0c')}\r\n`, 400],
    ['no Host', () => 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a Host that is none', () => 'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
    ['no HTTP', () => '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 400],
    ['HTTP/2 without asking', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a method that there is not', () => 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['CONNECT', () => 'CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n', ''],
    ['TRACE', () => 'TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 405],
    [
      'another path encoding',
      () => `GET /v1/turns/%E0%A4%A HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      401,
    ],
    ['a NUL in the path', () => `GET /v1/turns/%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, 401],
    ['the path of a file', () => `GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, 404],
    [
      'a whole URL of another host',
      () => `GET http://evil/v1/turns HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n`,
      403,
    ],
  ])('%s', async (_name, text, status) => {
    const wire = await ask(text())
    expect(wire.statuses).toEqual(status === '' ? [] : [status])
  })

  test.each(['/v1/zot', '/v1/qwen', '/v1/turns', '/v1/zene'])(
    'an upgrade of %s to WebSocket is not made',
    async (path) => {
      const upgrade = [
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: eA==',
      ]
      const wire = new Wire(gateway.port).write(`${head(path, ...upgrade).replace('POST', 'GET')}\r\n`)
      await wire.answers(1)
      wire.socket.destroy()
      expect(wire.statuses).toEqual([path === '/v1/turns' ? 200 : 405])
    },
  )

  test.each<[string, Record<string, string>, Buffer | string]>([
    ['a bomb', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(50 * MIB))],
    ['two codings', { 'content-encoding': 'identity, br' }, 'x'],
    ['UTF-16', { 'content-type': 'application/json; charset=utf-16' }, Buffer.from(BODY, 'utf16le')],
    ['Latin 1', { 'content-type': 'application/json;charset="iso-8859-1"' }, BODY],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b'],
    ['what a page may send without asking', { 'content-type': 'text/plain' }, BODY],
  ])('a body as %s is refused by every front', async (_name, more, body) => {
    const statuses = await Promise.all(
      clientNames.map(async (front) => {
        const init = { method: 'POST', headers: headers('a', more), body }
        const response = await fetch(gateway.url + CLIENTS[front].path, init)
        await response.text()
        return response.status
      }),
    )
    expect(statuses).toEqual(clientNames.map(() => 415))
  })

  describe('whose body has no end', () => {
    let wires: ReadonlyMap<string, Promise<Wire>>
    beforeAll(() => {
      wires = new Map(clientNames.map((front) => [front, endless(CLIENTS[front].path)]))
    })

    async function endless(path: string): Promise<Wire> {
      const wire = new Wire(gateway.port).write(`${head(path, JSON_LINE, 'Transfer-Encoding: chunked')}\r\n`)
      const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
      const more = setInterval(() => wire.write(chunk), 20)
      await wire.closed
      clearInterval(more)
      return wire
    }

    test.each(clientNames)('are cut off by %s soon after they are refused', async (front) => {
      expect((await wires.get(front)!).statuses).toEqual([413])
    })
  })

  test.each(clientNames)('a client of HTTP/1.0 is answered by %s, without chunks', async (front) => {
    const { path } = CLIENTS[front]
    const body = CLIENTS[front].write({ text: 'hi', session: 'old', id: 'old' })
    const lines = [JSON_LINE, 'Accept: */*', `Content-Length: ${body.length}`]
    const wire = await ask(`${head(path, ...lines).replace('HTTP/1.1', 'HTTP/1.0')}\r\n${body}`)
    const [start, raw] = wire.text.split('\r\n\r\n') as [string, string]
    expect(wire.statuses).toEqual([200])
    expect(start).not.toMatch(/chunked/i)
    expect(CLIENTS[front].read(raw, { text: 'hi', session: 'old' }).ok).toBe(true)
  })

  test('requests in one piece are answered in their order', async () => {
    const one = (at: number): string => {
      const body = JSON.stringify({ input: `piped ${at}`, session: { id: `piped-${at}` } })
      return `${head('/v1/turns/helper', JSON_LINE, `Content-Length: ${body.length}`)}\r\n${body}`
    }
    const wire = new Wire(gateway.port).write(Array.from({ length: 10 }, (_, at) => one(at)).join(''))
    await wire.answers(10)
    await until(() => wire.text.includes('> piped 9'))
    wire.socket.destroy()
    expect([...wire.text.matchAll(/"text":"[^"]*> piped (\d)"/g)].map(([, at]) => Number(at))).toEqual(
      // Each answer has its text twice: as a whole, and as that of its message.
      Array.from({ length: 20 }, (_, at) => Math.floor(at / 2)),
    )
  })
})

const ODD = [
  'nul\0here',
  'two\nlines',
  'back\r\nX-Injected: yes',
  '--flag',
  '$(id)`id`',
  '../../etc',
  '\ud800',
  'line\u2028end',
]

describe('values that reach arguments, environments and headers', () => {
  test.each(clientNames)('are given as they are, or refused for what they are, by %s', async (front) => {
    for (const [at, odd] of ODD.entries()) {
      for (const agent of ['helper', 'coder', 'engine']) {
        const body = CLIENTS[front].write({ text: odd, session: `odd-${at}`, id: `odd ${odd}` })
        const response = await send(`${CLIENTS[front].path}/${agent}`, body)
        const raw = await response.text()
        expect(response.headers.has('x-injected')).toBe(false)
        const { ok } = CLIENTS[front].read(raw, { text: odd, session: '' })
        const refused = agent === 'engine' || (agent === 'helper' && odd.includes('\0'))
        expect({ odd, agent, ok, raw }).toEqual({ odd, agent, ok: !refused, raw })
        if (agent === 'helper' && refused) expect(raw).toContain('NUL')
      }
    }
  })

  test('as the names of agents, turns and sessions find nothing', async () => {
    for (const odd of ODD.map((text) => encodeURIComponent(text.toWellFormed()))) {
      const statuses = await Promise.all([
        send(`/v1/zene/${odd}`, CLIENTS.zene.write({ text: 'hi', session: 's' })),
        send(`/v1/turns/${odd}`, '', { method: 'GET' }),
        send(`/v1/turns/${odd}/events`, '', { method: 'GET' }),
        send(`/v1/sessions/${odd}`, '', { method: 'DELETE' }),
      ])
      expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404])
      await Promise.all(statuses.map((response) => response.text()))
    }
  })

  test('of a stand-in that are no environment reach no agent', async () => {
    const about = { argv: ['native'], env: { TRACEPARENT: 'a\r\nb', BAGGAGE: 'c\0d' }, agent: 'helper' }
    const body = `${JSON.stringify(about)}\n${JSON.stringify({ in: `${CLIENTS.native.write({ text: 'hi', session: '' })}` })}\n{"eof":true}\n`
    const raw = await (await send('/v1/stdio/native', body)).text()
    expect(raw).toContain('turn-end')
  })
})

describe('what belongs to another key', () => {
  interface Asked {
    type: string
    ask: string
  }

  test('is to be had no more than what is not there, and an answer counts once', async () => {
    const done = (await (await turn('mine')).json()) as { turn: string }
    const begun = (await (
      await send('/v1/turns/careful', '{"input":"hi","request":"mine-1"}', { more: { prefer: 'respond-async' } })
    ).json()) as { id: string }
    const asks = async (): Promise<Asked[]> =>
      ((await (await send(`/v1/turns/${begun.id}`, '', { method: 'GET' })).json()) as { asks?: Asked[] }).asks ?? []
    await until(async () => (await asks()).length === 1)
    const [{ ask }] = (await asks()) as [Asked]
    const { sessions } = (await (await send('/v1/sessions', '', { method: 'GET' })).json()) as {
      sessions: { id: string }[]
    }
    const reply = JSON.stringify({ reply: { kind: 'approval', option: 'allow' } })
    const tries = (id: string, session: string): [string, string, string?][] => [
      ['GET', `/v1/turns/${id}`],
      ['GET', `/v1/turns/${id}/events`],
      ['POST', `/v1/turns/${id}/cancel`, ''],
      ['POST', `/v1/turns/${id}/approvals/${ask}`, reply],
      ['GET', `/v1/sessions/${session}`],
      ['DELETE', `/v1/sessions/${session}`],
      ['POST', '/v1/turns', JSON.stringify({ type: 'turn-cancel', target: { turn: id } })],
      [
        'POST',
        '/v1/turns',
        JSON.stringify({
          type: 'ask-reply',
          target: { continuation: `${id}.x` },
          ask,
          reply: { kind: 'approval', option: 'allow' },
        }),
      ],
    ]
    const shown = (id: string, session: string): Promise<unknown[]> =>
      Promise.all(
        tries(id, session).map(async ([method, path, body = '']) => {
          const response = await send(path, body, { key: 'b', method })
          const text = (await response.text()).replaceAll(id, 'ID').replaceAll(session, 'SESSION')
          return [
            method,
            path.replace(id, 'ID').replace(session, 'SESSION'),
            response.status,
            text.replace(/"exchange":"[^"]*"/, ''),
          ]
        }),
      )
    const session = sessions[0]!.id
    const nothing = await shown('a'.repeat(begun.id.length), 'b'.repeat(session.length))
    expect(await shown(begun.id, session)).toEqual(nothing)
    expect(await shown(done.turn, session)).toEqual(nothing)
    const others = await send('/v1/turns', '', { key: 'b', method: 'GET' })
    expect(await others.json()).toEqual({ turns: [] })

    const answer = (): Promise<Response> => send(`/v1/turns/${begun.id}/approvals/${ask}`, reply)
    const [first, second] = [await answer(), await answer()]
    expect([first.status, second.status]).toEqual([200, 400])
    await until(async () =>
      (await (await send(`/v1/turns/${begun.id}`, '', { method: 'GET' })).text()).includes('completed'),
    )
    expect((await answer()).status).toBe(400)
  })
})

test('the log of all this holds no failure of the gateway itself', () => {
  const wrong = gateway
    .logged()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
  expect(wrong).toEqual([])
})
