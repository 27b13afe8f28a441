/** What a collector has to do with a running gateway: it gets the log when that is asked for, and can hold up no turn. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openLog, redactor, startTelemetry, type Telemetry } from '../../observability/index.ts'
import { Metrics } from '../../observability/metrics.ts'
import { askHttp } from '../kit/clients.ts'
import { AGENTS, startGateway } from '../kit/gateway.ts'
import { startOtlpReceiver } from '../kit/otlp-receiver.ts'
import { COMPLETED, HTTP, TURN } from './traced.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const SCRIPT = `default: helper\nagents: { helper: { protocol: agentproc, command: ${join(AGENTS, 'helper.sh')}, args: [] } }`

describe('the log', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00'

  test.each(['http/json', 'http/protobuf'] as const)(
    'goes to the collector as well, in its trace, by %s',
    async (protocol) => {
      const receiver = await startOtlpReceiver()
      cleanups.push(() => receiver.close())
      const metrics = new Metrics()
      const telemetry = await startTelemetry({ otlp: receiver.url, version: '1', protocol, logs: true, metrics })
      const written: string[] = []
      const log = await openLog({
        level: 'info',
        redact: redactor(['hunter22']),
        destination: { write: (line) => written.push(line) },
        also: (entry) => telemetry.log?.(entry),
      })
      log.debug('too small')
      log.warn('an agent said hunter22', { agent: 'a', exitCode: 3, deep: { list: ['hunter22', 1] }, traceparent })
      log.error('no trace')
      const turn = metrics.hooks(telemetry.hooks).request(HTTP).turn(TURN)
      turn.end(COMPLETED)
      await telemetry.shutdown()
      metrics.close()
      expect(receiver.logs()).toEqual([
        {
          severity: 'WARN',
          body: 'an agent said [redacted]',
          attributes: { agent: 'a', exitCode: 3, deep: { list: ['[redacted]', 1] } },
          traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
          spanId: '00f067aa0ba902b7',
        },
        { severity: 'ERROR', body: 'no trace', attributes: {}, traceId: undefined, spanId: undefined },
      ])
      expect(written).toHaveLength(2)
      const type = protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'
      expect(new Set(receiver.exports().map(({ path, headers }) => `${path} ${headers['content-type']}`))).toEqual(
        new Set([`/v1/traces ${type}`, `/v1/metrics ${type}`, `/v1/logs ${type}`]),
      )
      expect(receiver.spans().map(({ name }) => name)).toContain('invoke_agent helper')
      const turns = receiver.points().find(({ metric }) => metric === 'turnpike.turns')
      expect(turns).toMatchObject({ kind: 'sum', value: 1, unit: '{turn}' })
      const duration = receiver.points().find(({ metric }) => metric === 'gen_ai.client.operation.duration')
      expect(duration).toMatchObject({ kind: 'histogram', count: 1, unit: 's' })
    },
  )

  test('stays here when it is not asked for, or no place for it is known', async () => {
    const receiver = await startOtlpReceiver()
    cleanups.push(() => receiver.close())
    for (const more of [{ otlp: receiver.url }, { otlp: `${receiver.url}/own`, logs: true }]) {
      const telemetry = await startTelemetry({ version: '1', ...more })
      expect(telemetry.log).toBeUndefined()
      await telemetry.shutdown()
    }
    expect(receiver.exports()).toEqual([])
  })
})

describe('a collector that', () => {
  const hang: RequestListener = () => {}
  const trickle: RequestListener = (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 50)
    response.once('close', () => clearInterval(timer))
  }

  test.each([
    ['is down', undefined],
    ['hangs', hang],
    ['trickles its answer', trickle],
    ['refuses', (_request, response) => void response.writeHead(503).end()] satisfies [string, RequestListener],
  ])('%s has no turn wait or fail', async (_name, listener) => {
    const server = createServer(listener ?? hang).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const otlp = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const asked = listener && once(server, 'request')
    if (!listener) server.close()
    cleanups.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const telemetry: Telemetry = await startTelemetry({ otlp, version: '0', logs: true })
    const gateway = await startGateway(SCRIPT, telemetry)
    cleanups.push(async () => {
      await gateway.close()
      await telemetry.shutdown()
    })
    expect(await askHttp(gateway.url, 'zene', { text: 'hi', session: 's' })).toMatchObject({ ok: true, status: 200 })
    await asked
    // Its export is still on the way: the next turn does not wait for it.
    expect(await askHttp(gateway.url, 'zene', { text: 'hi', session: 's', id: 'r2' })).toMatchObject({ ok: true })
    expect(gateway.engine.turns).toEqual([])
  })
})
