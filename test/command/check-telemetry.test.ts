import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runTurnpike } from '../kit/clients.ts'
import { startOtlpReceiver } from '../kit/otlp-receiver.ts'

describe('turnpike check', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-check-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const check = async (telemetry: string, env: Record<string, string> = {}): Promise<[number | null, string]> => {
    const config = join(folder, 'turnpike.yaml')
    writeFileSync(config, `agents: { a: { protocol: agentproc, command: /bin/true, args: [] } }\n${telemetry}`)
    const { code, stderr } = await runTurnpike(['check', '--config', config], '', env)
    return [code, stderr]
  }

  test('says nothing of a collector that answers, wherever it is named', async () => {
    const receiver = await startOtlpReceiver()
    expect(await check(`telemetry: { otlp: "${receiver.url}" }\n`)).toEqual([0, ''])
    expect(await check('', { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toEqual([0, ''])
    expect(await check(`telemetry: { otlp: "${receiver.url}", metrics: false }\n`)).toEqual([0, ''])
    const paths = receiver.exports().map(({ path }) => path)
    await receiver.close()
    expect(paths).toEqual(['/v1/traces', '/v1/metrics', '/v1/traces', '/v1/metrics', '/v1/traces'])
  })

  test('asks for what else is sent, as it is sent, and says what cannot be', async () => {
    const receiver = await startOtlpReceiver()
    const found = await check(`telemetry: { otlp: "${receiver.url}", metrics: false }\n`, {
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    })
    const paths = receiver.exports().map(({ path }) => path)
    await receiver.close()
    expect(found).toEqual([
      0,
      'warning: OTEL_EXPORTER_OTLP_PROTOCOL is grpc; OTLP is sent as http/protobuf (or http/json)\n',
    ])
    expect(paths).toEqual(['/v1/traces', '/v1/logs'])
  })

  test('the file goes before the environment', async () => {
    const receiver = await startOtlpReceiver()
    const env = { OTEL_LOGS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    const said = `otlp: "${receiver.url}", metrics: false, protocol: http/protobuf`
    const found = [
      await check(`telemetry: { ${said}, logs: false }\n`, env),
      await check(`telemetry: { ${said}, logs: true }\n`),
    ]
    const exports = receiver.exports().map(({ path }) => path)
    await receiver.close()
    expect(found).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(exports).toEqual(['/v1/traces', '/v1/traces', '/v1/logs'])
  })

  test('sends the credentials that every export has', async () => {
    const receiver = await startOtlpReceiver()
    const url = receiver.url.replace('//', '//me:p%40ss@')
    const found = await check(`telemetry: { otlp: "${url}", metrics: false, headers: { X-Own: file } }\n`, {
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, x-own=environment',
    })
    const headers = receiver.exports().map((one) => one.headers)
    await receiver.close()
    expect(found).toEqual([0, ''])
    expect(headers).toMatchObject([{ authorization: `Basic ${btoa('me:p@ss')}`, 'x-key': 'a b', 'x-own': 'file' }])
  })

  test('warns of one that does not, and what to do; the configuration is right all the same', async () => {
    const receiver = await startOtlpReceiver()
    await receiver.close()
    const { host } = new URL(receiver.url)
    expect(await check(`telemetry: { otlp: "${receiver.url}" }\n`)).toEqual([
      0,
      `warning: the collector at ${host} does not answer (ECONNREFUSED): start it, or correct telemetry.otlp (4318 is the usual port of OTLP over HTTP)\n`,
    ])
  })
})
