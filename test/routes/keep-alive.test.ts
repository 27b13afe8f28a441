import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname

describe('a stream whose agent is silent', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    const agents = `agents: { patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] } }`
    gateway = await startGateway(`default: patient\nlimits: { grace: 300ms }\n${agents}`, { keepAliveMs: 20 })
  })
  afterAll(() => gateway.close())

  const openharness = {
    protocol_version: '1.0.0',
    request_id: 'r1',
    capabilities: { 'openharness.streaming': true },
    request: { context: { session_id: 's', user_intent: 'wait' } },
  }

  test.each([
    ['/v1/turns', { input: 'wait' }, 'event: ping'],
    ['/v1/openharness', openharness, 'event: ping'],
  ])('is kept alive: %s', async (path, body, sign) => {
    const running = new AbortController()
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
      signal: running.signal,
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let read = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      read += chunk
      // Before its first word and after it.
      if (read.includes('pid ') && read.split(sign).length > 3) break
    }
    expect(read.split(sign).length).toBeGreaterThan(3)
    expect(read).toContain('pid ')
    running.abort()
    await until(() => gateway.engine.turns.length === 0)
  })
})
