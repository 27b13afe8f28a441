import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { askHttp } from '../kit/clients.ts'
import { AGENTS, TURNPIKE } from '../kit/gateway.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Runs `turnpike serve`; gives its address. */
async function serve(telemetry: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-metrics-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'turnpike.yaml')
  writeFileSync(
    config,
    `default: helper
agents: { helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] } }
server: { port: 0, socket: false }
store: { path: ./t.db }
log: { level: error }
${telemetry}`,
  )
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: '' }
  const gateway = spawn(process.execPath, [TURNPIKE, 'serve', '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  })
  cleanups.push(async () => {
    const ended = once(gateway, 'exit')
    gateway.kill('SIGINT')
    await ended
  })
  const [welcome] = (await once(gateway.stdout, 'data')) as [Buffer]
  return /http:\/\/[\d.:]+/.exec(String(welcome))![0]
}

describe('turnpike serve', () => {
  test('counts its turns at /metrics without anything configured', async () => {
    const url = await serve('')
    expect(await askHttp(url, 'zene', { text: 'hi', session: 's' })).toMatchObject({ ok: true })
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(text).toContain(
      'turnpike_turns_total{turnpike_front="zene",turnpike_back="agentproc",gen_ai_agent_name="helper",turnpike_outcome="completed"} 1\n',
    )
    expect(text).toContain('turnpike_agent_breaker{gen_ai_agent_name="helper",turnpike_breaker_state="closed"} 1\n')
    expect(text).toContain('turnpike_agent_starts_total{gen_ai_agent_name="helper"} 1\n')
  })

  test('counts nothing when it is told not to', async () => {
    const url = await serve('telemetry: { metrics: false }\n')
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
  })
})
