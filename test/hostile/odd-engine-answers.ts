/** How an engine answers that does not answer well. */
import { gzipSync } from 'node:zlib'
import { ANSWER } from './kit.ts'
import { type Asked, reply, replyAndClose, replyChunked, writeAndReset } from './odd-engine-wire.ts'

interface Behaviour {
  answer(asked: Asked): void
  /** It has a meaning in one form alone. */
  only?: Asked['form']
}

const MIB = 1024 * 1024
const always = (answer: Behaviour['answer']): Behaviour => ({ answer })
const whole = (answer: Behaviour['answer']): Behaviour => ({ answer, only: 'whole' })
const streamed = (answer: Behaviour['answer']): Behaviour => ({ answer, only: 'streamed' })

const half = ({ body }: Asked): string => body.slice(0, Math.floor(body.length / 2))
const failure = (code: string, message: string): string =>
  JSON.stringify({ protocol_version: '1.0.0', response: { status: 'error', error: { code, message } } })
const json = 'application/json'
const html = { type: 'text/html', body: '<html>no</html>' }
const event = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`
/** The stream with something put before its `response`. */
const withEvents = ({ body }: Asked, more: string): string => body.replace('event: response', `${more}event: response`)
/** The stream with one long text. */
const withText = ({ body }: Asked, text: string): string => body.replace('two three.', text)

/** When something is said, and when not. */
export const TIMES: Record<string, Behaviour> = {
  'late-headers': always((asked) => void setTimeout(() => reply(asked), 200)),
  'late-body': always((asked) => {
    reply(asked, { body: '', length: Buffer.byteLength(asked.body) })
    setTimeout(() => asked.socket.write(asked.body), 200)
  }),
  'a-byte-at-a-time': always(({ socket, type, body }) => {
    const bytes = Buffer.from(
      `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    const next = (at: number): void => {
      if (at < bytes.length) socket.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1))
    }
    next(0)
  }),
  'never-headers': always(() => {}),
  'headers-then-nothing': always((asked) => reply(asked, { body: '', length: 100 })),
  'half-then-nothing': always((asked) => reply(asked, { body: half(asked), length: 10_000 })),
  'comments-for-ever': streamed((asked) => {
    reply(asked, { body: '', length: null })
    const timer = setInterval(() => asked.socket.write(': still here\n\n'), 20)
    asked.socket.once('close', () => clearInterval(timer))
  }),
  'pings-for-ever': streamed((asked) => {
    reply(asked, { body: '', length: null })
    const timer = setInterval(() => asked.socket.write(event('ping', '{}')), 20)
    asked.socket.once('close', () => clearInterval(timer))
  }),
}

/** How the bytes are framed by HTTP. */
export const FRAMINGS: Record<string, Behaviour> = {
  'cut-in-a-character': always((asked) => {
    const bytes = Buffer.from(asked.body.replace('three', '€'))
    replyAndClose(asked, { body: bytes.subarray(0, bytes.indexOf(0xe2) + 2), length: null })
  }),
  'cut-between-chunks': always((asked) => {
    replyChunked(asked, [half(asked)], '')
    asked.socket.end()
  }),
  'cut-in-a-chunk-size': always((asked) => {
    replyChunked(asked, [half(asked)], 'ff')
    asked.socket.end()
  }),
  'no-last-chunk': always((asked) => {
    replyChunked(asked, [asked.body], '')
    asked.socket.end()
  }),
  'no-last-chunk-and-open': always((asked) => replyChunked(asked, [asked.body], '')),
  'a-chunk-for-each-byte': always((asked) => replyChunked(asked, [...asked.body])),
  'chunk-size-is-garbage': always((asked) => replyChunked(asked, [half(asked)], 'zz\r\nno\r\n')),
  'chunk-size-is-too-large': always((asked) => replyChunked(asked, [half(asked)], 'ffffffffffffffffff\r\n')),
  'length-too-short': always((asked) => reply(asked, { length: Buffer.byteLength(asked.body) - 10 })),
  'length-too-long-and-open': always((asked) => reply(asked, { length: Buffer.byteLength(asked.body) + 10 })),
  'length-too-long-and-closed': always((asked) => replyAndClose(asked, { length: Buffer.byteLength(asked.body) + 10 })),
  'length-is-garbage': always((asked) => reply(asked, { length: null, headers: ['content-length: many'] })),
  'two-lengths': always((asked) => reply(asked, { headers: ['content-length: 7'] })),
  'length-and-chunks': always((asked) =>
    reply(asked, {
      headers: ['transfer-encoding: chunked'],
      body: `${asked.body.length.toString(16)}\r\n${asked.body}\r\n0\r\n\r\n`,
    }),
  ),
  'gzip-unasked': always((asked) => reply(asked, { body: gzipSync(asked.body), headers: ['content-encoding: gzip'] })),
  'no-length-and-closed': always((asked) => replyAndClose(asked, { length: null })),
  'http-1.0': always((asked) => replyAndClose(asked, { version: '1.0', length: null })),
  'closes-after-its-answer': always((asked) => replyAndClose(asked)),
  'answers-two-requests': always((asked) => {
    reply(asked)
    reply(asked)
  }),
}

/** What the head says. */
export const HEADS: Record<string, Behaviour> = {
  'no-http': always(({ socket }) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')),
  'html-with-200': always((asked) => reply(asked, html)),
  'no-content-type': always(({ socket, body }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }),
  'redirect-elsewhere': always((asked) =>
    reply(asked, { status: '302 Found', headers: [`location: http://127.0.0.1:${asked.elsewhere}/`], body: '' }),
  ),
  'redirect-that-keeps-the-method': always((asked) =>
    reply(asked, { status: '307 No', headers: [`location: http://127.0.0.1:${asked.elsewhere}/`], body: '' }),
  ),
  'continue-first': always((asked) => {
    asked.socket.write('HTTP/1.1 100 Continue\r\n\r\n')
    reply(asked)
  }),
  'ten-thousand-interim-answers': always((asked) => {
    asked.socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(10_000))
    reply(asked)
  }),
  'switches-protocols': always((asked) => {
    asked.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n')
  }),
  'no-content': always(({ socket }) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n')),
  'not-modified': always(({ socket }) => void socket.write('HTTP/1.1 304 Not Modified\r\n\r\n')),
  'partial-content': always((asked) => reply(asked, { status: '206 Partial Content' })),
  '400-with-an-envelope': always((asked) =>
    reply(asked, { status: '400 No', type: json, body: failure('invalid_request', 'No.') }),
  ),
  '401-without-an-envelope': always((asked) => reply(asked, { status: '401 No', ...html })),
  '401-with-an-envelope': always((asked) =>
    reply(asked, { status: '401 No', type: json, body: failure('unauthenticated', 'No.') }),
  ),
  '404-without-an-envelope': always((asked) => reply(asked, { status: '404 No', ...html })),
  '429-with-retry-after': always((asked) => reply(asked, { status: '429 No', headers: ['retry-after: 7'], ...html })),
  '429-with-an-envelope': always((asked) =>
    reply(asked, {
      status: '429 No',
      headers: ['retry-after: 7'],
      type: json,
      body: failure('provider_rate_limit', 'Later.'),
    }),
  ),
  '500-empty': always((asked) => reply(asked, { status: '500 No', body: '' })),
  '500-with-an-envelope': always((asked) =>
    reply(asked, { status: '500 No', type: json, body: failure('internal', 'Broken.') }),
  ),
  '500-with-a-success': always((asked) => reply(asked, { status: '500 No' })),
  '503-without-an-envelope': always((asked) => reply(asked, { status: '503 No', ...html })),
  'status-of-four-digits': always((asked) => reply(asked, { status: '2000 OK' })),
  'header-of-15-kib': always((asked) => reply(asked, { headers: [`x-long: ${'x'.repeat(15 * 1024)}`] })),
  'header-of-1-mib': always((asked) => reply(asked, { headers: [`x-long: ${'x'.repeat(MIB)}`] })),
  'carriage-return-in-a-header': always((asked) => reply(asked, { headers: ['x-odd: one\rx-other: two'] })),
  'line-feed-in-a-header': always((asked) => reply(asked, { headers: ['x-odd: one\nx-other: two'] })),
  'nul-in-a-header': always((asked) => reply(asked, { headers: ['x-odd: one\u0000two'] })),
  'folded-header': always((asked) => reply(asked, { headers: ['x-odd: one\r\n two'] })),
}

/** What the body says. */
const BODIES: Record<string, Behaviour> = {
  'byte-order-mark': always((asked) => reply(asked, { body: `\ufeff${asked.body}` })),
  'crlf-lines': always((asked) => reply(asked, { body: `${asked.body}\n`.replaceAll('\n', '\r\n') })),
  'cr-lines': always((asked) => reply(asked, { body: asked.body.replaceAll('\n', '\r') })),
  'invalid-utf-8': always((asked) =>
    reply(asked, { body: Buffer.from(asked.body.replaceAll('three', '\u00ff'), 'latin1') }),
  ),
  'json-named-a-stream': whole((asked) => reply(asked, { type: 'text/event-stream' })),
  'stream-named-json': streamed((asked) => reply(asked, { type: json })),
  'whole-where-a-stream-was-asked': streamed((asked) =>
    reply(asked, { type: json, body: /data: (.*)\n\n$/.exec(asked.body)![1]! }),
  ),
  'two-results': streamed((asked) =>
    reply(asked, { body: asked.body + asked.body.slice(asked.body.indexOf('event: response')) }),
  ),
  'result-and-open': streamed((asked) => reply(asked, { length: null })),
  'no-result': streamed((asked) => reply(asked, { body: asked.body.slice(0, asked.body.indexOf('event: response')) })),
  'result-not-dispatched': streamed((asked) => reply(asked, { body: asked.body.slice(0, -1) })),
  'result-says-another-text': streamed((asked) => reply(asked, { body: asked.body.replace(ANSWER, 'Another.') })),
  'events-after-the-end': streamed((asked) =>
    reply(asked, { body: `${asked.body}${event('text_delta', '{"message":"m","text":" late"}')}` }),
  ),
  'foreign-ids': streamed((asked) =>
    reply(asked, { body: withEvents(asked, event('text_delta', '{"message":"stray","text":" stray"}')) }),
  ),
  'another-request-id': whole((asked) =>
    reply(asked, { body: asked.body.replace(/"request_id":"[^"]*"/, '"request_id":"another"') }),
  ),
  'unknown-events': streamed((asked) => reply(asked, { body: withEvents(asked, event('x-odd', '{"a":1}')) })),
  'event-is-no-json': streamed((asked) => reply(asked, { body: withEvents(asked, event('text_delta', '{{{')) })),
  'a-million-pings': streamed((asked) => reply(asked, { body: withEvents(asked, event('ping', '{}').repeat(1e6)) })),
  'many-tiny-events': streamed((asked) =>
    reply(asked, {
      body: asked.body.replace(
        'event: message_end',
        `${event('text_delta', '{"message":"m","text":"x"}').repeat(20_000)}event: message_end`,
      ),
    }),
  ),
  'event-of-16-mib': streamed((asked) =>
    reply(asked, {
      body: withText(asked, 'x'.repeat(16 * MIB - '{"message":"m","text":""}'.length - 'text_delta'.length)),
    }),
  ),
  'event-over-the-limit': streamed((asked) => reply(asked, { body: withText(asked, 'x'.repeat(17 * MIB)) })),
  'body-over-the-limit': whole((asked) => reply(asked, { body: asked.body.replace('three', 'x'.repeat(17 * MIB)) })),
}

/** Where the connection is reset. */
export const RESETS: Record<string, Behaviour> = {
  'reset-at-the-request': always(({ socket }) => void socket.resetAndDestroy()),
  'closed-at-the-request': always(({ socket }) => void socket.end()),
  'reset-in-the-head': always((asked) => writeAndReset(asked, 'HTTP/1.1 2')),
  'reset-behind-the-head': always((asked) =>
    writeAndReset(asked, `HTTP/1.1 200 OK\r\ncontent-type: ${asked.type}\r\ncontent-length: 1000\r\n\r\n`),
  ),
  'reset-in-the-middle': always((asked) =>
    writeAndReset(
      asked,
      `HTTP/1.1 200 OK\r\ncontent-type: ${asked.type}\r\ncontent-length: 10000\r\n\r\n${half(asked)}`,
    ),
  ),
}

/** By name. */
export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = { ...TIMES, ...FRAMINGS, ...HEADS, ...BODIES, ...RESETS }
