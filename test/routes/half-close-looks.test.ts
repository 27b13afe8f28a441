import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { watchHalfClose } from '../../routes/half-close.ts'

const EVERY_MS = 10_000
/** The times of the writes of the first look and of the first one of the next, from the end of what the client sends. */
const WRITES_MS = [0, 50, 150, 300, 500, 2000, 2000 + EVERY_MS]

const server = createServer()
Object.assign(server, { httpAllowHalfOpen: true })
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => void server.close())
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** A request of a client that has sent its last, before or after it is watched. */
async function halfClosed({ watched = 'after', version = '1.1', streamed = false, everyMs = EVERY_MS } = {}) {
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  const asked = once(server, 'request')
  let read = ''
  client.setEncoding('utf8').on('data', (text) => {
    read += String(text)
  })
  client.write(`GET / HTTP/${version}\r\nHost: h\r\n\r\n`)
  const [incoming, outgoing] = (await asked) as [IncomingMessage, ServerResponse]
  incoming.resume()
  const probes: number[] = []
  const watch = (): void =>
    watchHalfClose(incoming, outgoing, everyMs, () => {
      probes.push(performance.now() - began)
      outgoing.write('.')
    })
  if (streamed) outgoing.flushHeaders()
  const ended = once(incoming.socket, 'end')
  if (watched === 'before') watch()
  const began = performance.now()
  client.end()
  await ended
  if (watched === 'after') watch()
  return { client, outgoing, probes, read: () => read }
}

/** Reads what the server has written until this is all of it. */
async function untilRead(read: () => string, all: string): Promise<void> {
  while (read() !== all) await new Promise(setImmediate)
}

test.each(['before', 'after'])(
  'a client that stays is looked at again, watched %s it sends no more',
  async (watched) => {
    const { client, outgoing, probes } = await halfClosed({ watched, streamed: true })
    vi.advanceTimersByTime(WRITES_MS.at(-1)!)
    expect(probes).toEqual(WRITES_MS)
    outgoing.end()
    await once(client, 'close')
    expect(vi.getTimerCount()).toBe(0)
  },
)

test('no pause is longer than the interval', async () => {
  const { client, outgoing, probes } = await halfClosed({ streamed: true, everyMs: 120 })
  vi.advanceTimersByTime(1000)
  expect(probes).toEqual([0, 50, 150, 270, 390, 510, 630, 680, 780, 900])
  outgoing.end()
  await once(client, 'close')
})

test('a client that leaves between two looks is seen to have left by the second write of the next one', async () => {
  const { client, outgoing, read } = await halfClosed()
  vi.advanceTimersByTime(2000)
  await untilRead(read, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(WRITES_MS.length - 1))
  client.destroy()
  await once(client, 'close')
  vi.advanceTimersByTime(EVERY_MS)
  expect(outgoing.destroyed).toBe(false)
  const closed = once(outgoing, 'close')
  vi.advanceTimersByTime(50)
  await closed
  expect(vi.getTimerCount()).toBe(0)
})

test('HTTP/1.0 has nothing that may be written before the head', async () => {
  const { client, outgoing, read } = await halfClosed({ version: '1.0' })
  vi.advanceTimersByTime(WRITES_MS.at(-1)!)
  outgoing.end()
  await once(client, 'close')
  expect(read()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})

test('nothing is written to a client that has left already', async () => {
  const { client, outgoing } = await halfClosed({ watched: 'never' })
  const closed = once(outgoing, 'close')
  outgoing.destroy()
  await closed
  watchHalfClose(outgoing.req, outgoing, EVERY_MS, () => {})
  expect(vi.getTimerCount()).toBe(0)
  client.destroy()
})
