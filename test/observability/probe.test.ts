import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { probeCollector } from '../../observability/index.ts'
import { startOtlpReceiver } from '../kit/otlp-receiver.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const answering = (status: (request: IncomingMessage) => number): Promise<string> =>
  serve(
    (request, response) => void request.resume().on('end', () => response.writeHead(status(request)).end('private')),
  )

describe('what is said of a collector', () => {
  test('is nothing when it takes traces and metrics; it gets the headers and nothing else', async () => {
    const receiver = await startOtlpReceiver()
    cleanups.push(() => receiver.close())
    const headers = { 'x-key': 'k' }
    expect(await probeCollector({ otlp: receiver.url, headers, metrics: true })).toEqual([])
    expect(receiver.exports().map((request) => [request.path, request.headers['x-key']])).toEqual([
      ['/v1/traces', 'k'],
      ['/v1/metrics', 'k'],
    ])
    expect([receiver.spans(), receiver.points()]).toEqual([[], []])
  })

  test('is of logs too when they are to be sent, and in the protocol that they are sent in', async () => {
    const receiver = await startOtlpReceiver()
    cleanups.push(() => receiver.close())
    const target = { otlp: receiver.url, metrics: false, logs: true } as const
    expect(await probeCollector(target)).toEqual([])
    expect(await probeCollector({ ...target, protocol: 'http/json' })).toEqual([])
    expect(receiver.exports().map(({ path, headers }) => [path, headers['content-type']])).toEqual([
      ['/v1/traces', 'application/x-protobuf'],
      ['/v1/logs', 'application/x-protobuf'],
      ['/v1/traces', 'application/json'],
      ['/v1/logs', 'application/json'],
    ])
    const host = await answering(({ url }) => (url === '/v1/logs' ? 404 : 200))
    expect(await probeCollector({ otlp: `http://${host}`, metrics: true, logs: true })).toEqual([
      `the collector at ${host} takes traces but no logs (404); they are on stderr all the same`,
    ])
    expect(await probeCollector({ otlp: `${receiver.url}/own`, metrics: false, logs: true })).toEqual([
      'telemetry.otlp names a path of its own for traces, so logs are not sent; they are on stderr',
    ])
  })

  test('that nobody listens: start it, or correct the address', async () => {
    const host = await serve(() => {})
    await cleanups.pop()!()
    expect(await probeCollector({ otlp: `http://user:private@${host}/?k=private`, metrics: true })).toEqual([
      `the collector at ${host} does not answer (ECONNREFUSED): start it, or correct telemetry.otlp (4318 is the usual port of OTLP over HTTP)`,
    ])
  })

  test('that it takes too long', async () => {
    const host = await serve(() => {})
    const [problem] = await probeCollector({ otlp: `http://${host}`, metrics: true })
    expect(problem).toContain(`the collector at ${host} does not answer (not within 2 s): `)
  })

  test.each([
    [401, 'refuses the gateway (401): put its key into telemetry.headers'],
    [403, 'refuses the gateway (403): put its key into telemetry.headers'],
    [404, 'does not take OTLP at /v1/traces (404): correct telemetry.otlp'],
    [500, 'answered with status 500: see its log'],
  ])('that it answers %i', async (status, said) => {
    const host = await answering(() => status)
    expect(await probeCollector({ otlp: `http://${host}`, metrics: true })).toEqual([
      `the collector at ${host} ${said}`,
    ])
  })

  test('that it takes traces alone, unless there are no metrics for it', async () => {
    const host = await answering(({ url }) => (url === '/v1/metrics' ? 404 : 200))
    expect(await probeCollector({ otlp: `http://${host}`, metrics: true })).toEqual([
      `the collector at ${host} takes traces but no metrics (404); GET /metrics has them all the same`,
    ])
    expect(await probeCollector({ otlp: `http://${host}`, metrics: false })).toEqual([])
  })

  test('that its path says nothing of metrics', async () => {
    const host = await answering(() => 200)
    expect(await probeCollector({ otlp: `http://${host}/ingest`, metrics: true })).toEqual([
      'telemetry.otlp names a path of its own for traces, so metrics are not sent; GET /metrics has them',
    ])
  })

  test('of credentials in the URL: they are sent as the header that they stand for', async () => {
    let seen: string | undefined
    const host = await answering(({ headers }) => {
      seen = headers.authorization
      return 200
    })
    expect(await probeCollector({ otlp: `http://me:it@${host}`, metrics: false })).toEqual([])
    expect(seen).toBe(`Basic ${btoa('me:it')}`)
  })
})
