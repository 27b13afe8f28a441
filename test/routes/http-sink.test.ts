import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HttpSink } from '../../routes/http-sink.ts'

/** The pieces that the next answers consist of: one in each tick, or several in one. */
const answers: (string | string[])[][] = []
let server: Server
let port = 0

beforeAll(async () => {
  server = createServer((_request, response) => {
    const pieces = answers.shift() ?? []
    const sink = new HttpSink(response, () => {})
    sink.head(200, { 'content-type': 'text/event-stream' })
    const next = (): void => {
      const piece = pieces.shift()
      if (piece === undefined) {
        sink.end(0, { 'turnpike-loss': 'dropped task' })
        return
      }
      for (const part of [piece].flat()) sink.write(part)
      setImmediate(next)
    }
    next()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** The bytes of the answers to requests that are sent at once. */
function ask(text: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (piece) => pieces.push(piece as Buffer))
    socket.on('end', () => resolve(Buffer.concat(pieces)))
    socket.on('error', reject)
  })
}

const get = (version: string, more = ''): string => `GET / HTTP/${version}\r\nhost: x\r\n${more}\r\n`

/** Takes a chunked body apart: its chunks as text, its trailers, and what follows it. */
function chunksOf(body: Buffer): { chunks: string[]; trailers: string; rest: Buffer } {
  const chunks: string[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, end), 16)
    if (size === 0) {
      const last = body.indexOf('\r\n\r\n', end)
      return { chunks, trailers: body.toString('latin1', end + 2, last), rest: body.subarray(last + 4) }
    }
    chunks.push(body.toString('utf8', end + 2, end + 2 + size))
    expect(body.toString('latin1', end + 2 + size, end + 4 + size)).toBe('\r\n')
    at = end + 4 + size
  }
}

function bodyOf(answer: Buffer): { head: string; body: Buffer } {
  const end = answer.indexOf('\r\n\r\n')
  return { head: answer.toString('latin1', 0, end), body: answer.subarray(end + 4) }
}

test('every piece of a stream is a chunk with its length in bytes', async () => {
  const piece = fc.string({ unit: fc.constantFrom('a', 'é', '€', '𝄞', '\ud834', '\n', '\r\n', '0', ''), maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      answers.push([...pieces])
      const { head, body } = bodyOf(await ask(get('1.1', 'connection: close\r\n')))
      expect(head).toMatch(/^transfer-encoding: chunked$/im)
      const { chunks, trailers, rest } = chunksOf(body)
      expect(chunks).toEqual(pieces.filter((text) => text !== '').map((text) => text.toWellFormed()))
      expect([trailers, rest.length]).toEqual(['turnpike-loss: dropped task', 0])
    }),
    { numRuns: 40 },
  )
})

test('a stream over HTTP/1.0 has no chunks', async () => {
  answers.push(['one ', 'twö ', 'three'])
  const { head, body } = bodyOf(await ask(get('1.0')))
  expect(head).not.toMatch(/transfer-encoding/i)
  expect(body.toString()).toBe('one twö three')
})

test('streams of requests that come at once follow each other', async () => {
  answers.push(['a1', 'a2', 'a3'], ['b1', 'b2'])
  const first = bodyOf(await ask(get('1.1') + get('1.1', 'connection: close\r\n')))
  const { chunks, rest } = chunksOf(first.body)
  expect(chunks).toEqual(['a1', 'a2', 'a3'])
  expect(chunksOf(bodyOf(rest).body).chunks).toEqual(['b1', 'b2'])
})

test('what is written in one tick keeps its order, with what was written before and after it', async () => {
  const long = fc.constantFrom('long', 'längß').map((text) => text.repeat(2000))
  const text = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), long)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { maxLength: 5 }), async (ticks) => {
      answers.push(ticks.map((parts) => [...parts]))
      const answer = await ask(get('1.1', 'connection: close\r\n'))
      const { chunks } = chunksOf(answer.subarray(answer.indexOf('\r\n\r\n') + 4))
      expect(chunks.join('')).toBe(ticks.flat().join(''))
    }),
    { numRuns: 50 },
  )
})

/** An answer as a client gets it: its head's status and headers, and its body as it is on the wire. */
async function answerOf(drive: (sink: HttpSink) => void, method = 'GET', version = '1.1') {
  const own = createServer((_request, response) => drive(new HttpSink(response, () => {}))).listen(0, '127.0.0.1')
  await new Promise((resolve) => own.once('listening', resolve))
  const at = (own.address() as AddressInfo).port
  try {
    const text = await new Promise<Buffer>((resolve, reject) => {
      const pieces: Buffer[] = []
      const socket = connect(at, '127.0.0.1', () =>
        socket.write(`${method} / HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`),
      )
      socket.on('data', (piece) => pieces.push(piece as Buffer))
      socket.on('close', () => resolve(Buffer.concat(pieces)))
      socket.on('error', reject)
    })
    const { head, body } = bodyOf(text)
    const [first = '', ...lines] = head.split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ') as [string, string]))
    return { status: Number(first.split(' ')[1]), headers, body: body.toString() }
  } finally {
    own.close()
  }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const STREAM_TYPE = { 'content-type': 'text/event-stream' }

test('a whole answer is written in one piece, with its length, and without trailers', async () => {
  const { status, headers, body } = await answerOf((sink) => {
    sink.head(201, { ...JSON_TYPE, 'x-one': '1' })
    expect([sink.write('{"a":'), sink.write('"é"}')]).toEqual([true, true])
    sink.end(0, { 'turnpike-loss': 'dropped task' })
  })
  expect([status, body]).toEqual([201, '{"a":"é"}'])
  expect(headers).toMatchObject({ 'content-length': '10', 'x-one': '1' })
  expect(headers).not.toHaveProperty('trailer')
  expect(headers).not.toHaveProperty('transfer-encoding')
})

test('an answer has one head, the first', async () => {
  const { status, headers } = await answerOf((sink) => {
    sink.head(200, STREAM_TYPE)
    sink.write('x')
    sink.head(500, { 'x-late': '1' })
    sink.end(0)
  })
  expect([status, headers['x-late']]).toEqual([200, undefined])
})

test.each([
  [429, {}, '1'],
  [429, { 'retry-after': '7' }, '7'],
  [503, {}, undefined],
  [200, {}, undefined],
])('an answer with the status %i and %j says when to come again: %s', async (status, more, after) => {
  const { headers } = await answerOf((sink) => {
    sink.head(status, { ...JSON_TYPE, ...more } as Record<string, string>)
    sink.end(0)
  })
  expect(headers['retry-after']).toBe(after)
})

test('a time to come again that was set before is kept', async () => {
  const own = createServer((_request, response) => {
    response.setHeader('retry-after', '9')
    const sink = new HttpSink(response, () => {})
    sink.head(429, JSON_TYPE)
    sink.end(0)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => own.once('listening', resolve))
  const response = await fetch(`http://127.0.0.1:${(own.address() as AddressInfo).port}`)
  await response.arrayBuffer()
  expect(response.headers.get('retry-after')).toBe('9')
  own.close()
})

test.each([
  ['printable ASCII', 'a b~\t!', true],
  ['1024 characters', 'x'.repeat(1024), true],
  ['nothing', '', true],
  ['1025 characters', 'x'.repeat(1025), false],
  ['a line feed', 'a\nb', false],
  ['a carriage return', 'a\rb', false],
  ['NUL', 'a\0b', false],
  ['a letter beyond ASCII', 'é', false],
  ['DEL', '\x7f', false],
])('a header of %s is sent: %3$s', async (_what, value, sent) => {
  const { status, headers } = await answerOf((sink) => {
    sink.head(200, { ...JSON_TYPE, 'x-one': value, 'x-two': 'still there' })
    sink.end(0)
  })
  expect([status, 'x-one' in headers, headers['x-two']]).toEqual([200, sent, 'still there'])
})

test('an answer to HEAD is its head alone', async () => {
  const { status, headers, body } = await answerOf((sink) => {
    sink.head(200, { ...JSON_TYPE, 'x-one': '1' })
    expect(sink.write('never seen')).toBe(true)
    sink.end(0, { 'turnpike-loss': 'x' })
  }, 'HEAD')
  expect([status, headers['x-one'], body]).toEqual([200, '1', ''])
})

test.each([
  [200, '1.1', true],
  [204, '1.1', false],
  [200, '1.0', false],
])('a stream with the status %i over HTTP/%s announces a trailer: %s', async (status, version, announced) => {
  const { headers } = await answerOf(
    (sink) => {
      sink.head(status, STREAM_TYPE)
      sink.end(0)
    },
    'GET',
    version,
  )
  expect(headers['trailer']).toBe(announced ? 'turnpike-loss' : undefined)
})

test('an answer is read when it is finished, by all who wait, and not before', async () => {
  const said: string[] = []
  await answerOf((sink) => {
    sink.whenRead(() => said.push('one'))
    sink.head(200, STREAM_TYPE)
    sink.write('x')
    sink.whenRead(() => said.push('two'))
    said.push('written')
    sink.end(0)
    said.push('ended')
  })
  expect(said).toEqual(['written', 'ended', 'one', 'two'])
})

test('an answer that is cut off is not finished, and takes what is still written without an error', async () => {
  const said: string[] = []
  const { body } = await answerOf((sink) => {
    sink.whenRead(() => said.push('read'))
    sink.head(200, STREAM_TYPE)
    sink.write('one')
    setImmediate(() => {
      sink.abort()
      said.push(String(sink.write('two')))
      sink.end(0, { 'turnpike-loss': 'x' })
    })
  })
  expect(said).toEqual(['true'])
  expect(body).not.toContain('two')
})

test('the client’s catching up is told, and an answer knows its way to other replicas', async () => {
  let drained = 0
  const detour = { owner: 'o' } as never
  const begun = { bytes: 3 } as never
  const own = createServer((_request, response) => {
    const sink = new HttpSink(response, () => (drained += 1), { detour, begun })
    expect([sink.detour, sink.begun]).toEqual([detour, begun])
    sink.head(200, STREAM_TYPE)
    let ready = true
    while (ready) ready = sink.write('x'.repeat(65_536))
    response.once('drain', () => sink.end(0))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => own.once('listening', resolve))
  const response = await fetch(`http://127.0.0.1:${(own.address() as AddressInfo).port}`)
  await response.arrayBuffer()
  expect(drained).toBeGreaterThanOrEqual(1)
  own.close()
})
