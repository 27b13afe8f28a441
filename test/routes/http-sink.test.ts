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
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
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
