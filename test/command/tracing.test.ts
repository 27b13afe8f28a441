import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, runTurnpike } from '../kit/clients.ts'
import { startOtlpReceiver } from '../kit/otlp-receiver.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('a stand-in', () => {
  let folder: string
  let config: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-trace-'))
    config = join(folder, 'turnpike.yaml')
    const script = `{ protocol: agentproc, command: ${process.execPath}, args: [${AGENTS}/traced.mjs] }`
    const exits = `{ protocol: agentproc, command: ${AGENTS}/exits.sh, args: [] }`
    const bag = `{ protocol: agentproc, command: /bin/sh, args: [-c, 'echo "$BAGGAGE"'] }`
    writeFileSync(
      config,
      `default: script\nagents: { script: ${script}, exits: ${exits}, bag: ${bag} }\nstore: { path: ./t.db }\n`,
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** What the agent was told of the trace. */
  const run = async (env: Record<string, string>): Promise<string> => {
    const ran = await runTurnpike(
      ['as', 'zene', '--config', config],
      CLIENTS.zene.write({ text: 'hi', session: 's' }),
      env,
    )
    return (JSON.parse(ran.stdout) as { text: string }).text
  }

  test('without an exporter passes the client’s context on as it came, and invents none', async () => {
    expect(await run({ TRACEPARENT })).toBe(TRACEPARENT)
    expect(await run({ TRACEPARENT: '' })).toBe('none')
  })

  test('passes the client’s baggage on', async () => {
    const input = CLIENTS.zene.write({ text: 'hi', session: 's' })
    const ran = await runTurnpike(['as', 'zene', '--config', config, '--agent', 'bag'], input, { BAGGAGE: 'user=7' })
    expect(JSON.parse(ran.stdout)).toMatchObject({ text: 'user=7' })
  })

  test('sends its log too where the standard variable says so, as Protocol Buffers where another one does', async () => {
    const receiver = await startOtlpReceiver()
    const env = {
      TRACEPARENT,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/base`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_LOGS_EXPORTER: 'otlp',
      TURNPIKE_LOG: 'on',
    }
    const input = CLIENTS.zene.write({ text: 'hi', session: 's' })
    await runTurnpike(['as', 'zene', '--config', config, '--agent', 'exits'], input, env)
    const turn = receiver.spans().find(({ name }) => name === 'invoke_agent exits')
    const [, traceId] = TRACEPARENT.split('-')
    expect(receiver.logs().find(({ body }) => body === 'an agent failed')).toMatchObject({
      severity: 'WARN',
      attributes: { agent: 'exits', why: 'closed', exitCode: 3 },
      traceId,
      spanId: turn!.spanId,
    })
    expect(new Set(receiver.exports().map(({ headers }) => headers['content-type']))).toEqual(
      new Set(['application/x-protobuf']),
    )
    expect(new Set(receiver.exports().map(({ path }) => path))).toEqual(new Set(['/base/v1/traces', '/base/v1/logs']))
    await receiver.close()
  })
})
