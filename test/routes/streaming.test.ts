import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const AGENT = join(import.meta.dirname, '../kit/agents/patient-zot.mjs')

/** How a client of each front asks for a stream. The agent says one word and then nothing: what arrives, arrives before the end. */
const STREAMS: Record<string, { path: string; headers?: Record<string, string>; body: string }> = {
  'OpenHarness as server-sent events': {
    path: '/v1/openharness',
    headers: { accept: 'text/event-stream' },
    body: JSON.stringify({
      protocol_version: '1.0.0',
      request_id: 'r1',
      capabilities: { 'openharness.streaming': true },
      request: { context: { user_intent: 'wait' } },
    }),
  },
  'Zene as event lines': {
    path: '/v1/zene',
    body: JSON.stringify({ request_id: 'r1', session_id: 'z', prompt: 'wait', stream: true }),
  },
  'zot events': { path: '/v1/zot', body: CLIENTS.zot.write({ text: 'wait', session: '', id: '1' }) },
  'AGENT_PARTIAL lines': { path: '/v1/agentproc', body: CLIENTS.agentproc.write({ text: 'wait', session: '' }) },
  'AgentProc 0.4 partials': {
    path: '/v1/agentproc',
    body: CLIENTS['agentproc@0.4'].write({ text: 'wait', session: '' }),
  },
}

describe('a streamed answer arrives while the agent works', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(
      `default: patient\nlimits: { grace: 300ms }\nagents:${EXAMPLE_AGENTS}  patient: { protocol: zot, command: ${process.execPath}, args: [${AGENT}] }\n`,
    )
  })
  afterAll(() => gateway.close())

  test.each(Object.entries(STREAMS))('%s', async (_name, stream) => {
    const seen = await new Promise<string>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', ...stream.headers }
      const call = request(gateway.url + stream.path, { method: 'POST', headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
          if (!/pid \d+/.test(text)) return
          call.destroy()
          resolve(text)
        })
        response.on('end', () => reject(new Error(`it ended: ${text}`)))
        response.on('error', () => {})
      })
      call.on('error', () => {})
      call.end(stream.body)
    })
    expect(seen).toMatch(/pid \d+/)
    // It was told that its client is gone, and ends.
    await until(() => gateway.engine.turns.length === 0)
  })
})
