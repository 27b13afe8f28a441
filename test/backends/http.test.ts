import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { backend, listen, post, recording, serve, serveRaw } from './http-kit.ts'
import { open } from './kit.ts'

describe('the request', () => {
  test('has method, path, body with its length in bytes, and the headers of configuration, call and trace', async () => {
    const { at, seen } = await recording()
    const call = open(
      backend(`http://${at}/base/`, {
        headers: { Authorization: 'Bearer k', 'X-One': 'configured', 'x-two': 'configured' },
      }),
      post({
        path: '/turns?x=1',
        headers: { 'X-TWO': 'call', 'content-type': 'application/json', 'Content-Length': '9', Connection: 'close' },
        body: '"é😀"',
      }),
      { traceparent: '00-1-2-01', tracestate: 'a=b', baggage: 'k=v' },
    )
    expect(await call.ended).toStrictEqual({ why: 'closed' })
    expect(seen).toStrictEqual([
      {
        method: 'POST',
        url: '/base/turns?x=1',
        headers: {
          host: at,
          connection: 'keep-alive',
          authorization: 'Bearer k',
          'x-one': 'configured',
          'x-two': 'call',
          'content-type': 'application/json',
          traceparent: '00-1-2-01',
          tracestate: 'a=b',
          baggage: 'k=v',
          'content-length': '8',
        },
        body: '"é😀"',
      },
    ])
    expect(call.said).toStrictEqual(['started', 'head', 'data', 'end'])
  })

  test('an empty body of a POST has the length 0, a GET has no body', async () => {
    const { at, seen } = await recording()
    const one = backend(`http://${at}/`)
    await open(one, post({ body: '' })).ended
    await open(one, post({ body: '', method: 'GET' })).ended
    expect(seen.map(({ method, headers, body }) => [method, headers['content-length'], body])).toStrictEqual([
      ['POST', '0', ''],
      ['GET', undefined, ''],
    ])
  })

  test.each([
    ['', undefined, '/'],
    ['/base', undefined, '/base'],
    ['/base', 'turns', '/base/turns'],
    ['/base/', '/turns', '/base/turns'],
    ['/base?key=1', '/turns?x=2', '/base/turns?key=1&x=2'],
    ['/base?key=1', '?x=2', '/base?key=1&x=2'],
    ['/base', '?x=2', '/base?x=2'],
  ])('path %s with %s is %s', async (base, path, url) => {
    const { at, seen } = await recording()
    await open(backend(`http://${at}${base}`), post({ path })).ended
    expect(seen[0]?.url).toBe(url)
  })

  test('credentials of the URL become Basic authentication, configured ones win', async () => {
    const { at, seen } = await recording()
    await open(backend(`http://us%40er:50%25@${at}/`), post()).ended
    await open(backend(`http://a%b:c@${at}/`), post()).ended
    await open(backend(`http://user@${at}/`, { headers: { Authorization: 'Bearer k' } }), post()).ended
    expect(seen.map(({ headers }) => headers.authorization)).toStrictEqual([
      `Basic ${Buffer.from('us@er:50%').toString('base64')}`,
      `Basic ${Buffer.from('a%b:c').toString('base64')}`,
      'Bearer k',
    ])
  })

  test.each([
    ['used again', true, 1],
    ['used once where the server does not say for how long it keeps them', false, 3],
  ])('connections are %s', async (_, says, wanted) => {
    let connections = 0
    const server = createServer((_request, response) => {
      // Without one of these Node says for how long.
      if (!says) response.setHeader('connection', 'keep-alive')
      response.end('ok')
    })
    server.on('connection', () => {
      connections += 1
    })
    const one = backend(`http://${await listen(server)}/`)
    for (let round = 0; round < 3; round += 1) {
      expect(await open(one, post()).ended).toStrictEqual({ why: 'closed' })
      // The client takes its connection back after it has told of the end.
      await new Promise((next) => setImmediate(next))
    }
    expect(connections).toBe(wanted)
  })
})

describe('the answer', () => {
  test('status and headers with lower-case names, whatever the status; its body as it comes', async () => {
    const at = await serve((_request, response) => {
      response.writeHead(503, { 'Retry-After': '7', 'X-Many': ['a', 'b'], Date: 'd', Connection: 'close' })
      response.write('one ')
      response.end('two')
    })
    const call = open(backend(`http://${at}/`), post({ call: 'c1' }))
    expect(await call.ended).toStrictEqual({ call: 'c1', why: 'closed' })
    expect(call.heads).toStrictEqual([
      {
        call: 'c1',
        status: 503,
        headers: {
          'retry-after': '7',
          'x-many': 'a, b',
          date: 'd',
          connection: 'close',
          'transfer-encoding': 'chunked',
        },
      },
    ])
    expect(call.text()).toBe('one two')
  })

  test('redirects are not followed', async () => {
    const { at, seen } = await recording()
    const from = await serve((_request, response) => {
      response.writeHead(307, { location: `http://${at}/elsewhere` })
      response.end()
    })
    const call = open(backend(`http://${from}/`), post())
    expect(await call.ended).toStrictEqual({ why: 'closed' })
    expect(call.heads[0]).toMatchObject({ status: 307, headers: { location: `http://${at}/elsewhere` } })
    expect(seen).toStrictEqual([])
  })

  test('interim answers are not the answer', async () => {
    const at = await serve((_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.end('ok')
    })
    const call = open(backend(`http://${at}/`), post())
    expect(await call.ended).toStrictEqual({ why: 'closed' })
    expect(call.heads.map(({ status }) => status)).toStrictEqual([200])
  })

  test('a character that is cut by chunks arrives whole, a broken one at the end is replaced', async () => {
    const bytes = Buffer.from('😀é')
    const { promise: half, resolve } = Promise.withResolvers<() => void>()
    const at = await serve((_request, response) => {
      response.write('a')
      response.write(bytes.subarray(0, 2))
      resolve(() => response.end(bytes.subarray(2, 5)))
    })
    const call = open(backend(`http://${at}/`), post())
    await call.until(() => call.text() !== '')
    expect(call.text()).toBe('a')
    const finish = await half
    finish()
    expect(await call.ended).toStrictEqual({ why: 'closed' })
    expect(call.text()).toBe('a😀\ufffd')
  })

  test('HTTP/1.0: the end of the connection is the end of the body, and the next call makes a new one', async () => {
    const at = await serveRaw((socket) => socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold style'))
    const one = backend(`http://${at}/`)
    for (let round = 0; round < 3; round += 1) {
      const call = open(one, post())
      expect(await call.ended).toStrictEqual({ why: 'closed' })
      expect(call.heads).toStrictEqual([{ status: 200, headers: { 'content-type': 'text/plain' } }])
      expect(call.text()).toBe('old style')
    }
  })

  test('paused, at most the piece in hand still comes; resumed, nothing is missing', async () => {
    const size = 16 * 1024 * 1024
    const { promise: blocked, resolve } = Promise.withResolvers<void>()
    const at = await serve((_request, response) => {
      if (!response.write('x'.repeat(size))) resolve()
      response.end()
    })
    const call = open(backend(`http://${at}/`), post())
    await call.until(() => call.text() !== '')
    call.handle.pause()
    await blocked
    const piece = call.text().length + 64 * 1024
    for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setImmediate(next))
    expect(call.text().length).toBeLessThanOrEqual(piece)
    call.handle.resume()
    expect(await call.ended).toStrictEqual({ why: 'closed' })
    expect(call.text().length).toBe(size)
  })

  test('paused before the head, the body waits', async () => {
    const at = await serve((_request, response) => void response.end('body'))
    const call = open(backend(`http://${at}/`), post())
    call.handle.pause()
    await call.until(() => call.heads.length === 1)
    for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setImmediate(next))
    expect(call.text()).toBe('')
    call.handle.resume()
    expect(await call.ended).toStrictEqual({ why: 'closed' })
    expect(call.text()).toBe('body')
  })
})

describe('stop', () => {
  test('aborts a running answer, and the server sees it', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const at = await serve((_request, response) => {
      response.on('close', resolve)
      response.write('first')
    })
    const call = open(backend(`http://${at}/`), post({ call: 'c' }))
    await call.until(() => call.text() === 'first')
    expect(call.handle.write('ignored')).toBe(true)
    call.handle.endInput()
    call.handle.stop('timeout', 60_000)
    call.handle.stop('closed', 60_000)
    expect(call.said).not.toContain('end')
    expect(await call.ended).toStrictEqual({ call: 'c', why: 'timeout' })
    await closed
    expect(call.said).toStrictEqual(['started', 'head', 'data', 'end'])
  })

  test('works while paused, and before anything was sent', async () => {
    const at = await serve((_request, response) => void response.write('first'))
    const one = backend(`http://${at}/`)
    const paused = open(one, post())
    await paused.until(() => paused.text() === 'first')
    paused.handle.pause()
    paused.handle.stop('cancelled', 0)
    expect(await paused.ended).toStrictEqual({ why: 'cancelled' })
    const early = open(one, post())
    early.handle.stop('cancelled', 0)
    expect(await early.ended).toStrictEqual({ why: 'cancelled' })
    const unsent = open(backend(`http://${at}/`), post())
    unsent.handle.stop('closed', 0)
    expect(await unsent.ended).toStrictEqual({ why: 'closed' })
  })

  test('a request that was stopped before it was on the wire is not sent', async () => {
    const { at, seen } = await recording()
    const one = backend(`http://${at}/`)
    await open(one, post({ path: 'first' })).ended
    const stopped = Array.from({ length: 3 }, () => open(one, post({ path: 'stopped' })))
    for (const call of stopped) call.handle.stop('cancelled', 0)
    for (const call of stopped) expect(await call.ended).toStrictEqual({ why: 'cancelled' })
    await open(one, post({ path: 'last' })).ended
    expect(seen.map(({ url }) => url)).toStrictEqual(['/first', '/last'])
  })

  test('close aborts what runs, ends the connections, then refuses', async () => {
    const { promise: disconnected, resolve } = Promise.withResolvers<void>()
    const server = createServer((_request, response) => void response.write('first'))
    server.on('connection', (socket) => socket.on('close', () => resolve()))
    const one = backend(`http://${await listen(server)}/`)
    const call = open(one, post())
    await call.until(() => call.text() === 'first')
    await Promise.all([one.close(0), one.close(0)])
    expect(await call.ended).toStrictEqual({ why: 'cancelled' })
    await disconnected
    expect((await open(one, post()).ended).fault).toStrictEqual({
      code: 'agent-unavailable',
      message: 'The gateway is shutting down; try again when it is back.',
      retryable: true,
    })
  })
})
