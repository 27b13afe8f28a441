import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTelemetry, type Telemetry } from '../../observability/index.ts'
import { CLIENTS, runTurnpike } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../kit/otlp-receiver.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CLIENT = '00f067aa0ba902b7'
const TRACEPARENT = `00-${TRACE}-${CLIENT}-01`

const TRACED_AGENTS = `
  script: { protocol: agentproc, command: ${process.execPath}, args: [${AGENTS}/traced.mjs] }
  zot: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/traced-zot.mjs] }
`

/** The names from a span up to the client's own, which no collector here has. */
function ancestry(spans: readonly ReceivedSpan[], id: string): string[] {
  const span = spans.find(({ spanId }) => spanId === id)
  if (!span) return [id]
  return [span.name, ...ancestry(spans, span.parentSpanId ?? 'root')]
}

describe('one trace across all hops', () => {
  let receiver: OtlpReceiver
  let telemetry: Telemetry
  let far: TestGateway
  let near: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    receiver = await startOtlpReceiver()
    telemetry = await startTelemetry({ otlp: receiver.url, version: '0' })
    far = await startGateway(`default: script\nagents:${TRACED_AGENTS}`, telemetry)
    near = await startGateway(
      `default: script\nagents:${TRACED_AGENTS}  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }\n`,
      telemetry,
    )
    folder = mkdtempSync(join(tmpdir(), 'turnpike-trace-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(config, `default: script\nagents:${TRACED_AGENTS}store: { kind: sqlite, path: ./turnpike.db }\n`)
  })
  afterAll(async () => {
    await near.close()
    await far.close()
    await telemetry.shutdown()
    await receiver.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function askNear(agent: string): Promise<string> {
    const asked = { text: 'hi', session: `s-${agent}`, id: 'r1' }
    const response = await fetch(`${near.url}/v1/openharness/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: TRACEPARENT },
      body: CLIENTS.openharness.write(asked),
    })
    return CLIENTS.openharness.read(await response.text(), asked).text
  }

  /** The spans above the one that the agent was given, once they have arrived. */
  async function above(seen: string, root: string): Promise<string[]> {
    const [, trace, span] = seen.split('-')
    expect(trace).toBe(TRACE)
    const spans = await receiver.waitFor((all) => ancestry(all, span!).at(-1) === root)
    return ancestry(spans, span!)
  }

  test('OpenHarness over HTTP → an AGENT_ script', async () => {
    const seen = await askNear('script')
    expect(await above(seen, CLIENT)).toEqual(['node', 'invoke_agent script', 'POST /v1/openharness', CLIENT])
  })

  test('OpenHarness over HTTP → a zot process', async () => {
    const seen = await askNear('zot')
    expect(await above(seen, CLIENT)).toEqual(['node', 'invoke_agent zot', 'POST /v1/openharness', CLIENT])
  })

  test('through two gateways', async () => {
    const seen = await askNear('engine')
    expect(await above(seen, CLIENT)).toEqual([
      'node',
      'invoke_agent script',
      'POST /v1/openharness',
      'POST',
      'invoke_agent engine',
      'POST /v1/openharness',
      CLIENT,
    ])
  })

  test('a Zene stand-in with TRACEPARENT in its environment → a zot process', async () => {
    const env = { TRACEPARENT, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const input = CLIENTS.zene.write({ text: 'hi', session: 's' })
    const ran = await runTurnpike(['as', 'zene', '--config', config, '--agent', 'zot'], input, env)
    const seen = (JSON.parse(ran.stdout) as { text: string }).text
    const names = await above(seen, CLIENT)
    expect(names.slice(0, 2)).toEqual(['node', 'invoke_agent zot'])
    expect(names).toHaveLength(4)
  })

  test('without an exporter the client’s context is passed on as it came, and none is invented', async () => {
    const input = CLIENTS.zene.write({ text: 'hi', session: 's' })
    const run = async (env: Record<string, string>): Promise<string> => {
      const ran = await runTurnpike(['as', 'zene', '--config', config, '--agent', 'script'], input, env)
      return (JSON.parse(ran.stdout) as { text: string }).text
    }
    expect(await run({ TRACEPARENT })).toBe(TRACEPARENT)
    expect(await run({ TRACEPARENT: '' })).toBe('none')
  })
})
