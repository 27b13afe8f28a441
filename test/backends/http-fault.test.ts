import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { httpFault } from '../../src/backends/http-fault.ts'
import { backend, type HttpCall, post, recording, serve, serveRaw } from './http-kit.ts'
import { open } from './kit.ts'

describe('a call that fails says why and what to do, and nothing private', () => {
  const failed = (code: string, message: string, retryable: boolean) => ({
    why: 'failed',
    fault: { code, message, retryable },
  })

  /** How a call to this URL ends; it has a secret in its path, its headers and its body. */
  async function end(url: string, more: Partial<HttpCall> = {}) {
    const call = open(
      backend(url, { headers: { authorization: 'secret' } }),
      post({ path: '/secret', body: 'secret', ...more }),
    )
    const ended = await call.ended
    expect(JSON.stringify(ended)).not.toContain('secret')
    return ended
  }

  test('nobody listens', async () => {
    const server = createTcpServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const at = `127.0.0.1:${(server.address() as AddressInfo).port}`
    server.close()
    await once(server, 'close')
    expect(await end(`http://${at}`)).toStrictEqual(
      failed(
        'agent-unavailable',
        `The agent at ${at} refused the connection; start it, or check host and port of its \`url\`.`,
        true,
      ),
    )
  })

  test('the name does not exist', async () => {
    const { fault } = await end('http://agent.invalid')
    expect(fault?.code).toBe('agent-unavailable')
    expect(fault?.message).toMatch(
      /^The agent at agent\.invalid:80 has a name that could not be resolved \((ENOTFOUND|EAI_AGAIN)\); check the host of its `url` and the DNS\.$/,
    )
  })

  test('TLS to a server without it', async () => {
    const at = await serve((_request, response) => void response.end())
    const { fault } = await end(`https://${at}`)
    expect(fault?.code).toBe('agent-unavailable')
    expect(fault?.message).toMatch(
      /^The agent at 127\.0\.0\.1:\d+ could not be reached over TLS \(\w+\); check its certificate, and http or https in its `url`\.$/,
    )
  })

  test('the connection ends before an answer', async () => {
    const at = await serveRaw((socket) => socket.end())
    expect(await end(`http://${at}`)).toStrictEqual(
      failed(
        'agent-unavailable',
        `The agent at ${at} closed the connection before it answered and may have begun the work; check that it runs, and the proxies between.`,
        true,
      ),
    )
  })

  test('the answer is no HTTP', async () => {
    const at = await serveRaw((socket) => socket.end('220 smtp.example ready\r\n'))
    const { fault } = await end(`http://${at}`)
    expect(fault?.code).toBe('protocol-violation')
    expect(fault?.message).toMatch(
      /^The agent at 127\.0\.0\.1:\d+ did not answer in HTTP \(HTTPParserError\); check its `url`\.$/,
    )
  })

  test.each([
    ['a bad status', 'HTTP/1.1 2000 OK\r\n\r\n', 'HTTPParserError'],
    ['a header without an end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`, 'UND_ERR_HEADERS_OVERFLOW'],
    [
      'a broken header',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx: a\rb\r\n\r\n',
      'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    ],
  ])('the head of the answer has %s', async (_what, answer, code) => {
    const at = await serveRaw((socket) => socket.write(answer))
    const { fault } = await end(`http://${at}`)
    expect(fault?.code).toBe('protocol-violation')
    expect(fault?.message).toMatch(
      new RegExp(`^The agent at 127\\.0\\.0\\.1:\\d+ did not answer in HTTP \\(${code}\\); check its \`url\`\\.$`),
    )
  })

  test.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'])(
    'an interim answer that was not asked for: %j',
    async (answer) => {
      const at = await serveRaw((socket) => socket.write(answer))
      expect(await end(`http://${at}`)).toStrictEqual(
        failed(
          'protocol-violation',
          `The agent at ${at} sent an interim status that was not requested (100 or 101); check its server and the proxies in front of it.`,
          false,
        ),
      )
    },
  )

  test.each([
    ['shorter than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst'],
    ['without its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n'],
    ['in the middle of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nfirst'],
  ])('the body is cut off %s', async (_how, answer) => {
    const at = await serveRaw((socket) => socket.end(answer))
    const call = open(backend(`http://${at}`), post())
    const { why, fault } = await call.ended
    expect(why).toBe('failed')
    expect(call.text()).toBe('first')
    expect(call.said).toStrictEqual(['started', 'head', 'data', 'end'])
    expect(fault?.code).toBe('protocol-violation')
    expect(fault?.retryable).toBe(false)
    expect(fault?.message).toMatch(
      /^The agent at 127\.0\.0\.1:\d+ broke off its answer \(\w+\), which is incomplete; check that the agent runs, and the limits of proxies between\.$/,
    )
  })

  test('a header or method that HTTP does not allow', async () => {
    const { at, seen } = await recording()
    const expected = failed(
      'invalid-request',
      `The request for the agent at ${at} holds a method, path or header that HTTP does not allow; correct it.`,
      false,
    )
    expect(await end(`http://${at}`, { headers: { 'x-a': 'secret\r\nx-b: c' } })).toStrictEqual(expected)
    expect(await end(`http://${at}`, { headers: { 'x a': 'secret' } })).toStrictEqual(expected)
    expect(await end(`http://${at}`, { method: 'PO ST' })).toStrictEqual(expected)
    expect(seen).toStrictEqual([])
  })

  test.each(['', 'secret', 'ftp://host/secret', 'http://'])('the URL is %j', async (url) => {
    expect(await end(url)).toStrictEqual(
      failed(
        'agent-unavailable',
        "The agent's `url` is not a valid http or https address; correct it in the configuration.",
        true,
      ),
    )
  })

  test('a process call', async () => {
    const call = open(backend('http://127.0.0.1:1'), { kind: 'process', stdin: 'end' })
    expect(await call.ended).toStrictEqual(
      failed(
        'internal',
        'The agent is configured by a `url`, but its protocol asked for a process; configure a `command` for it.',
        false,
      ),
    )
  })

  test.each([
    [
      'UND_ERR_CONNECT_TIMEOUT',
      'did not accept a connection in time; check that it runs and that no firewall blocks it',
    ],
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'could not be reached over TLS (DEPTH_ZERO_SELF_SIGNED_CERT); check its certificate, and http or https in its `url`',
    ],
    [
      'CERT_HAS_EXPIRED',
      'could not be reached over TLS (CERT_HAS_EXPIRED); check its certificate, and http or https in its `url`',
    ],
    [
      'ECONNRESET',
      'closed the connection before it answered and may have begun the work; check that it runs, and the proxies between',
    ],
    ['EHOSTUNREACH', 'could not be reached (EHOSTUNREACH); check its `url` and the network'],
  ])('%s', (code, what) => {
    const error = Object.assign(new Error('secret'), { code })
    expect(httpFault(error, 'host:1', false)).toStrictEqual({
      code: 'agent-unavailable',
      message: `The agent at host:1 ${what}.`,
      retryable: true,
    })
  })

  test.each(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])('%s, on a connection that may have been used before', (code) => {
    expect(httpFault(Object.assign(new Error('secret'), { code }), 'host:1', false, true)).toStrictEqual({
      code: 'agent-crashed',
      message:
        `The agent at host:1 closed a kept-alive connection during a request (${code}); ` +
        'it may have read the request, so it was not sent again. Try again.',
      retryable: true,
    })
  })
})

describe('the fault of a broken call', () => {
  const coded = (code: string, message = 'private'): Error => Object.assign(new Error(message), { code })
  const parser = Object.assign(new Error('private'), { name: 'HTTPParserError', code: 'HPE_INVALID' })

  test.each<[what: string, error: unknown, code: string, message: RegExp]>([
    ['the parser', parser, 'protocol-violation', /did not answer in HTTP \(HTTPParserError\)/],
    [
      'its code',
      coded('HPE_INVALID_CONSTANT'),
      'protocol-violation',
      /did not answer in HTTP \(HPE_INVALID_CONSTANT\)/,
    ],
    ['too long a head', coded('UND_ERR_HEADERS_OVERFLOW'), 'protocol-violation', /did not answer in HTTP/],
    ['a wrong length', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), 'protocol-violation', /did not answer in HTTP/],
    ['an interim answer', new Error('bad response'), 'protocol-violation', /sent an interim status/],
    ['an upgrade', new Error('bad upgrade'), 'protocol-violation', /sent an interim status/],
    ['a text like those', new Error('a bad response'), 'agent-unavailable', /could not be reached/],
    ['an object like those', { message: 'bad response' }, 'agent-unavailable', /could not be reached/],
    ['a bad argument', coded('UND_ERR_INVALID_ARG'), 'invalid-request', /that HTTP does not allow/],
    ['what is not supported', coded('UND_ERR_NOT_SUPPORTED'), 'invalid-request', /that HTTP does not allow/],
    ['a bad URL', coded('ERR_INVALID_URL'), 'invalid-request', /that HTTP does not allow/],
    ['a refused connection', coded('ECONNREFUSED'), 'agent-unavailable', /refused the connection/],
    ['no such name', coded('ENOTFOUND'), 'agent-unavailable', /could not be resolved \(ENOTFOUND\)/],
    ['no answer of the DNS', coded('EAI_AGAIN'), 'agent-unavailable', /could not be resolved \(EAI_AGAIN\)/],
    ['a slow connection', coded('UND_ERR_CONNECT_TIMEOUT'), 'agent-unavailable', /did not accept a connection in time/],
    ['a slower one', coded('ETIMEDOUT'), 'agent-unavailable', /did not accept a connection in time/],
    ['a certificate', coded('CERT_HAS_EXPIRED'), 'agent-unavailable', /over TLS \(CERT_HAS_EXPIRED\)/],
    ['a signer', coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'agent-unavailable', /over TLS/],
    ['no TLS', coded('EPROTO'), 'agent-unavailable', /over TLS \(EPROTO\)/],
    ['a closed connection', coded('ECONNRESET'), 'agent-unavailable', /closed the connection before it answered/],
    ['a broken pipe', coded('EPIPE'), 'agent-unavailable', /closed the connection before it answered/],
    ['another code', coded('EHOSTUNREACH'), 'agent-unavailable', /could not be reached \(EHOSTUNREACH\)/],
  ])('by %s', (_what, error, code, message) => {
    const found = httpFault(error, 'h:1', false)
    expect([found.code, found.message]).toEqual([code, expect.stringMatching(message)])
    expect(found.message).toMatch(/^The (agent|request for the agent) at h:1 /)
    expect(found.message).not.toContain('private')
  })

  test.each(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])(
    'on a kept connection that is closed (%s) may be tried again',
    (code) => {
      expect(httpFault(coded(code), 'h:1', false, true)).toEqual({
        code: 'agent-crashed',
        message: `The agent at h:1 closed a kept-alive connection during a request (${code}); it may have read the request, so it was not sent again. Try again.`,
        retryable: true,
      })
    },
  )

  test('on a kept connection is the usual one where that was not closed', () => {
    expect(httpFault(coded('ECONNREFUSED'), 'h:1', false, true).code).toBe('agent-unavailable')
  })

  test('after the head of the answer is one of the answer, whatever the error', () => {
    for (const error of [parser, coded('ECONNRESET'), coded('UND_ERR_INVALID_ARG'), new Error('bad response')]) {
      const found = httpFault(error, 'h:1', true, true)
      expect([found.code, found.message]).toEqual([
        'protocol-violation',
        expect.stringContaining('broke off its answer'),
      ])
    }
  })
})
