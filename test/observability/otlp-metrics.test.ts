import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { signalUrl } from '../../observability/endpoints.ts'
import { startTelemetry } from '../../observability/index.ts'
import { Metrics } from '../../observability/metrics.ts'
import { type OtlpReceiver, type ReceivedPoint, startOtlpReceiver } from '../kit/otlp-receiver.ts'
import { COMPLETED, HTTP, TURN, viewOf } from './traced.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Counts two turns, and gives what the collector has been sent by the time that telemetry is down. */
async function exported(path = ''): Promise<{ receiver: OtlpReceiver; warnings: string[] }> {
  const receiver = await startOtlpReceiver()
  cleanups.push(() => receiver.close())
  const metrics = new Metrics()
  cleanups.push(() => metrics.close())
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const telemetry = await startTelemetry({
    otlp: receiver.url + path,
    version: '1.2.3',
    service: 'edge',
    metrics,
    warn,
  })
  const hooks = metrics.hooks(telemetry.hooks)
  const request = hooks.request(HTTP)
  const turn = request.turn(TURN)
  turn.queued(20)
  turn.loss({ kind: 'dropped', item: 'plan', why: 'no-place', count: 3 })
  turn.end(viewOf({ end: COMPLETED.end, seq: 4, usage: { input: 11 } }))
  request.turn({ ...TURN, turn: 't2' })
  await telemetry.shutdown()
  return { receiver, warnings }
}

const plain = ({ metric, unit, kind, attributes, value }: ReceivedPoint) => ({ metric, unit, kind, attributes, value })

describe('a collector', () => {
  test('gets the numbers that are at /metrics, with names, units, kinds and labels', async () => {
    const { receiver, warnings } = await exported()
    expect(warnings).toEqual([])
    const points = receiver.points()
    const ours = (name: string) => points.filter(({ metric }) => metric === name).map(plain)
    const agent = { 'gen_ai.agent.name': 'helper' }
    expect(ours('turnpike.turns')).toEqual([
      {
        metric: 'turnpike.turns',
        unit: '{turn}',
        kind: 'sum',
        attributes: {
          'turnpike.front': 'zene',
          'turnpike.back': 'zot',
          ...agent,
          'turnpike.outcome': 'completed',
        },
        value: 1,
      },
    ])
    expect(ours('turnpike.turns.active')).toEqual([
      { metric: 'turnpike.turns.active', unit: '{turn}', kind: 'updown', attributes: agent, value: 1 },
    ])
    expect(ours('turnpike.losses')).toEqual([
      {
        metric: 'turnpike.losses',
        unit: '{loss}',
        kind: 'sum',
        attributes: { 'turnpike.loss.kind': 'dropped', 'turnpike.loss.item': 'plan' },
        value: 3,
      },
    ])
    expect(ours('gen_ai.client.inference.usage.input_tokens')).toEqual([
      {
        metric: 'gen_ai.client.inference.usage.input_tokens',
        unit: '{token}',
        kind: 'sum',
        attributes: { 'gen_ai.operation.name': 'invoke_agent', ...agent },
        value: 11,
      },
    ])
    const wait = points.find(({ metric }) => metric === 'turnpike.queue.wait')!
    expect(wait).toMatchObject({ unit: 's', kind: 'histogram', value: 0.02, count: 1 })
    expect(wait.buckets).toEqual([0, 1, ...Array(17).fill(0)])
    expect(points.find(({ metric }) => metric === 'process.uptime')).toMatchObject({ unit: 's', kind: 'gauge' })
    expect(wait.resource).toMatchObject({ 'service.name': 'edge', 'service.version': '1.2.3' })
  })

  test('gets nothing that the gateway does not count itself', async () => {
    const { receiver } = await exported()
    const metrics = new Metrics()
    cleanups.push(() => metrics.close())
    const known = new Set(metrics.read().map(({ instrument }) => instrument.name))
    expect(receiver.points().filter(({ metric }) => !known.has(metric))).toEqual([])
    expect(receiver.points().length).toBeGreaterThan(8)
  })

  test.each([
    ['', ['/v1/metrics', '/v1/traces']],
    ['/otel/v1/traces', ['/otel/v1/metrics', '/otel/v1/traces']],
    ['/ingest', ['/ingest']],
  ])('at the path "%s" is sent to %j', async (path, expected) => {
    const { receiver } = await exported(path)
    expect([...new Set(receiver.exports().map((request) => request.path))].sort()).toEqual(expected)
  })

  test('that takes no metrics is told of once, with where they are all the same', async () => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(request.url === '/v1/metrics' ? 404 : 200, { 'content-type': 'application/json' }).end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => server.close())
    const metrics = new Metrics()
    cleanups.push(() => metrics.close())
    const warnings: string[] = []
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const warn = (message: string) => warnings.push(message)
    const telemetry = await startTelemetry({ otlp: `http://${host}`, version: '0', metrics, warn })
    metrics.hooks(telemetry.hooks).request(HTTP).end({ status: 200 })
    await telemetry.shutdown()
    server.closeAllConnections()
    expect(warnings).toEqual([`Metrics do not reach the collector at ${host} (404); GET /metrics still has them.`])
  })
})

test.each([
  ['http://a:4318', 'http://a:4318/v1/metrics'],
  ['https://a/v1/traces?k=1', 'https://a/v1/metrics?k=1'],
  ['http://a/x', undefined],
])('the metrics of %s go to %s', (otlp, expected) => {
  expect(signalUrl(otlp, 'metrics')?.href).toBe(expected)
})
