import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { startTelemetry, type TelemetryConfig } from '../../observability/index.ts'
import type { RequestInfo } from '../../src/contract/index.ts'
import { startOtlpReceiver } from '../kit/otlp-receiver.ts'

const HTTP: RequestInfo = { transport: 'http', front: 'zene', method: 'POST', path: '/v1/zene', carrier: {} }

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function receiving(options: { status?: number } = {}) {
  const receiver = await startOtlpReceiver(options)
  cleanups.push(() => receiver.close())
  return receiver
}

async function serve(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A port that nobody listens on. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

async function oneRequest(config: Partial<TelemetryConfig> & { otlp: string }): Promise<string[]> {
  const warnings: string[] = []
  const telemetry = await startTelemetry({ version: '0.0.0', warn: (message) => warnings.push(message), ...config })
  telemetry.hooks.request(HTTP).end({ status: 200 })
  await telemetry.shutdown()
  return warnings
}

describe('the collector', () => {
  test.each([
    ['', '/v1/traces'],
    ['/', '/v1/traces'],
    ['/otel/v1/traces', '/otel/v1/traces'],
  ])('given as its URL with path "%s" gets %s', async (path, expected) => {
    const receiver = await receiving()
    const headers = { 'X-Collector-Key': 'k1' }
    expect(await oneRequest({ otlp: receiver.url + path, headers })).toEqual([])
    expect(receiver.exports().map((request) => request.path)).toEqual([expected])
    expect(receiver.exports()[0]?.headers['x-collector-key']).toBe('k1')
  })

  test('gets spans while the gateway runs, not only at its end', async () => {
    const receiver = await receiving()
    const telemetry = await startTelemetry({ otlp: receiver.url, version: '0.0.0' })
    cleanups.push(() => telemetry.shutdown())
    telemetry.hooks.request(HTTP).end({ status: 200 })
    expect((await receiver.waitFor((spans) => spans.length === 1))[0]?.name).toBe('POST /v1/zene')
  })

  test.each([
    ['configured', 'edge', undefined, 'edge'],
    ['from the environment', undefined, 'from-env', 'from-env'],
    ['configured over the environment', 'edge', 'from-env', 'edge'],
    ['by default', undefined, undefined, 'turnpike'],
  ])('sees the service name %s', async (_name, service, variable, expected) => {
    const receiver = await receiving()
    const before = process.env['OTEL_SERVICE_NAME']
    if (variable !== undefined) process.env['OTEL_SERVICE_NAME'] = variable
    else delete process.env['OTEL_SERVICE_NAME']
    await oneRequest({ otlp: receiver.url, service })
    if (before === undefined) delete process.env['OTEL_SERVICE_NAME']
    else process.env['OTEL_SERVICE_NAME'] = before
    expect(receiver.spans()[0]?.resource['service.name']).toBe(expected)
  })
})

describe('a collector that does not work', () => {
  const said = (url: string, why: string) =>
    `Traces do not reach the collector at ${new URL(url).host} (${why}); turns go on without them.`

  test('is down: the hooks work, the shutdown ends, the operator is told once', async () => {
    const otlp = await closedPort()
    expect(await oneRequest({ otlp: otlp.replace('//', '//user:private@') })).toEqual([said(otlp, 'ECONNREFUSED')])
  })

  test('refuses', async () => {
    const receiver = await receiving({ status: 403 })
    expect(await oneRequest({ otlp: receiver.url })).toEqual([said(receiver.url, '403')])
  })

  test.each<[string, RequestListener]>([
    ['hangs', () => {}],
    ['answers with a head and hangs', (_request, response) => void response.writeHead(200).flushHeaders()],
    ['trickles its answer', trickle],
  ])('%s: a process that ends its telemetry ends', async (_name, listener) => {
    const { server, url } = await serve(listener)
    const asked = once(server, 'request')
    const { stdout, code } = await runChild(
      `
      import { startTelemetry } from './observability/index.ts'
      const { hooks, shutdown } = await startTelemetry({ otlp: process.env.OTLP, version: '0.0.0' })
      hooks.request(${JSON.stringify(HTTP)}).end({ status: 200 })
      await shutdown()
      process.stdout.write('shut down')
    `,
      { OTLP: url },
    )
    await asked
    expect({ stdout, code }).toEqual({ stdout: 'shut down', code: 0 })
  })

  test('is back: the operator is told, and spans arrive again', async () => {
    let healthy = false
    const { url } = await serve((request, response) => {
      request.resume()
      response.writeHead(healthy ? 200 : 400).end('{}')
    })
    const warnings: string[] = []
    const changed = new EventTarget()
    const warn = (message: string) => {
      warnings.push(message)
      changed.dispatchEvent(new Event('warning'))
    }
    const telemetry = await startTelemetry({ otlp: url, version: '0.0.0', warn })
    cleanups.push(() => telemetry.shutdown())
    const first = once(changed, 'warning')
    telemetry.hooks.request(HTTP).end({ status: 200 })
    await first
    healthy = true
    const second = once(changed, 'warning')
    telemetry.hooks.request(HTTP).end({ status: 200 })
    await second
    expect(warnings).toEqual([said(url, '400'), `Traces reach the collector at ${new URL(url).host} again.`])
  })

  test('never makes the shutdown fail, not even the second one', async () => {
    const telemetry = await startTelemetry({ otlp: await closedPort(), version: '0.0.0' })
    telemetry.hooks.request(HTTP).end({ status: 200 })
    await expect(Promise.all([telemetry.shutdown(), telemetry.shutdown()])).resolves.toEqual([undefined, undefined])
    // A turn that is still running then must not notice either.
    telemetry.hooks.request(HTTP).end({ status: 200 })
  })
})

test.each([
  [
    { otlp: 'collector:4318' },
    'telemetry.otlp is not an http or https URL; write the collector as http://127.0.0.1:4318.',
  ],
  [{ otlp: 'private' }, 'telemetry.otlp is not an http or https URL; write the collector as http://127.0.0.1:4318.'],
  [{ otlp: 'http://a', sample: 1.5 }, 'telemetry.sample is 1.5; write a share between 0 (none) and 1 (all traces).'],
  [
    { otlp: 'http://a', sample: Number.NaN },
    'telemetry.sample is NaN; write a share between 0 (none) and 1 (all traces).',
  ],
])('%j is refused', async (config, message) => {
  await expect(startTelemetry({ version: '0.0.0', ...config })).rejects.toThrow(message)
})

test('nothing of OpenTelemetry is loaded until telemetry starts', async () => {
  const { stdout } = await runChild(`
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context) } })
    const telemetry = await import('./observability/index.ts')
    telemetry.readCarrier({})
    ;(await telemetry.openLog({ level: 'silent' })).info('')
    const before = loaded.length
    const off = loaded.filter((url) => url.includes('@opentelemetry'))
    await telemetry.startTelemetry({ otlp: 'http://127.0.0.1:9', version: '0.0.0' })
    const on = loaded.slice(before).some((url) => url.includes('@opentelemetry/sdk-trace'))
    process.stdout.write(JSON.stringify({ some: before > 3, off, on }))
  `)
  expect(JSON.parse(stdout)).toEqual({ some: true, off: [], on: true })
})

/** Never completes its answer, and is never silent for long. */
function trickle(...[, response]: Parameters<RequestListener>): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 50)
  response.once('close', () => clearInterval(timer))
}

async function runChild(
  code: string,
  env: Record<string, string> = {},
): Promise<{ stdout: string; code: number | null }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, status] = await Promise.all([text(child.stdout), exit])
  return { stdout, code: status }
}
