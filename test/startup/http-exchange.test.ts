import { connect, createServer, type Server, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { HttpExchange } from '../../src/startup/index.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** What an exchange gave: its status, its text, its one end. */
interface Given {
  status: number | undefined
  text: string
  ends: number
  /** What the server read. */
  asked: string
}

/** Asks a server that answers with these pieces, one after the other, and closes. */
async function exchanged(pieces: readonly Uint8Array[], body: readonly string[] = []): Promise<Given> {
  let asked = ''
  const server = createServer((socket: Socket) => {
    socket.setNoDelay(true).on('error', () => {})
    const answer = async (): Promise<void> => {
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
      socket.end()
    }
    socket.on('data', (bytes) => {
      asked += bytes.toString('latin1')
      if (asked.endsWith('last\r\n') || body.length === 0) void answer()
    })
  })
  servers.push(server)
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  const given: Given = { status: undefined, text: '', ends: 0, asked: '' }
  const socket = connect(port, '127.0.0.1')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const exchange = new HttpExchange(
    socket,
    { path: '/v1/a', headers: { Host: 'here' } },
    {
      status: (code) => {
        given.status = code
      },
      data: (text) => {
        given.text += text
      },
      end: () => {
        given.ends += 1
      },
    },
  )
  for (const piece of body) exchange.write(piece)
  await closed
  return { ...given, asked }
}

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8')
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

test('a request is a head and its chunks', async () => {
  const { asked } = await exchanged([bytes(`${CHUNKED}0\r\n\r\n`)], ['é\n', '', 'last'])
  const head = 'POST /v1/a HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n'
  expect(asked).toBe(`${head}3\r\n${Buffer.from('é').toString('latin1')}\n\r\n4\r\nlast\r\n`)
})

test('an answer is the same however its bytes are cut', async () => {
  const answer = bytes(
    `HTTP/1.1 100 Continue\r\n\r\n${CHUNKED}6;x=y\r\nein é\r\n4\r\n € \r\n0\r\n\r\n`.replace(' € ', '€!'),
  )
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: answer.length - 1 }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      const edges = [0, ...at.sort((a, b) => a - b), answer.length]
      const pieces = edges.slice(1).map((edge, index) => answer.subarray(edges[index], edge))
      expect(await exchanged(pieces)).toMatchObject({ status: 200, text: 'ein é€!', ends: 1 })
    }),
    { numRuns: 25 },
  )
})

test.each([
  ['without chunks goes to the end of the connection', 'HTTP/1.1 503 No\r\n\r\nsorry', 503, 'sorry'],
  ['of another protocol is none', 'SSH-2.0-x\r\n\r\n', undefined, ''],
  ['whose head never ends is none', `HTTP/1.1 200 OK\r\n${'x'.repeat(70_000)}`, undefined, ''],
  ['with a length that is none ends there', `${CHUNKED}2\r\nok\r\nzz\r\nmore`, 200, 'ok'],
  ['with a length line that never ends ends there', `${CHUNKED}${'1'.repeat(2000)}`, 200, ''],
  ['that breaks off ends there', `${CHUNKED}ff\r\npart`, 200, 'part'],
  ['says nothing after its end', `${CHUNKED}2\r\nok\r\n0\r\n\r\nHTTP/1.1 200 OK`, 200, 'ok'],
])('an answer %s', async (_, answer, status, text) => {
  expect(await exchanged([bytes(answer)])).toMatchObject({ status, text, ends: 1 })
})

test('where nobody answers there is an end', async () => {
  expect(await exchanged([])).toMatchObject({ status: undefined, text: '', ends: 1 })
})
