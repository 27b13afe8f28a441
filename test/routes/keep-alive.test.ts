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

  const hasSpoken = (): boolean => gateway.engine.turns.some(({ view }) => view.text !== '')
  const zot = '{"id":"1","type":"prompt","message":"wait"}\n'
  const zene = { request_id: 'z1', session_id: 'z', prompt: 'wait', stream: true }
  const qwenCode = '{"type":"user","message":{"role":"user","content":"wait"}}\n'
  const qwen = {
    session_id: 'q',
    prompt_id: 'q########1',
    model: 'm',
    input: { origin: 'user', parts: [{ type: 'text', text: 'wait' }] },
  }
  const SSE = 'text/event-stream'
  const LINES = 'application/x-ndjson'
  const turn = (version: string): object => ({
    type: 'turn',
    message: 'wait',
    session_id: '',
    session_name: 'default',
    protocol_version: version,
  })

  // The sign is what a reader of the protocol skips: whole, so that it is taken out below.
  test.each<[string, string, string | object, string]>([
    ['/v1/turns', SSE, { input: 'wait' }, 'event: ping\ndata: {}\n\n'],
    ['/v1/turns', LINES, { input: 'wait' }, '\n\n'],
    ['/v1/openharness', SSE, openharness, 'event: ping\ndata: {}\n\n'],
    ['/v1/zot', LINES, zot, '\n\n'],
    ['/v1/zene', LINES, zene, '\n\n'],
    ['/v1/qwen-code', LINES, qwenCode, '\n\n'],
    ['/v1/qwen', LINES, `${JSON.stringify(qwen)}\n`, '"type":"result/heartbeat"'],
    ['/v1/agentproc', LINES, turn('0.4'), '{"type":"partial","text":""}\n'],
    ['/v1/agentproc', LINES, turn('0.3'), '{"type":"partial","text":""}\n'],
    ['/v1/agentproc', 'text/plain', { AGENT_MESSAGE: 'wait', AGENT_STREAMING: '1' }, 'AGENT_PARTIAL:""\n'],
  ])('is kept alive: %s as %s', async (path, accept, body, sign) => {
    const running = new AbortController()
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': typeof body === 'string' ? LINES : 'application/json', accept },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: running.signal,
    })
    const type = response.headers.get('content-type')!
    let read = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      read += chunk
      // Before its first word and after it.
      if (hasSpoken() && read.split(sign).length > 3) break
    }
    if (type.startsWith(LINES)) for (const line of read.split('\n').slice(0, -1)) if (line !== '') JSON.parse(line)
    running.abort()
    await until(() => gateway.engine.turns.length === 0)
  })

  test.each([
    ['all turns', SSE, 'event: ping'],
    ['all turns', LINES, '\n\n'],
    ['one turn', SSE, 'event: ping'],
    ['one turn', LINES, '\n\n'],
  ])('is kept alive for those who look on: %s as %s', async (what, accept, sign) => {
    const body = JSON.stringify({ input: 'wait' })
    const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
    const { id } = (await (await fetch(`${gateway.url}/v1/turns`, { method: 'POST', headers, body })).json()) as {
      id: string
    }
    const path = what === 'one turn' ? `/v1/turns/${id}/events` : '/v1/turns?follow=1'
    const looking = new AbortController()
    const response = await fetch(`${gateway.url}${path}`, { headers: { accept }, signal: looking.signal })
    let read = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      read += chunk
      if (read.split(sign).length > 3) break
    }
    looking.abort()
    for (const running of gateway.engine.turns) running.cancel()
    await until(() => gateway.engine.turns.length === 0)
  })

  test('is kept alive for stand-ins', async () => {
    const about = { argv: ['--rpc'], env: {}, interactive: false }
    const running = new AbortController()
    const response = await fetch(`${gateway.url}/v1/stdio/zot`, {
      method: 'POST',
      headers: { 'content-type': LINES },
      body: `${JSON.stringify(about)}\n${JSON.stringify({ in: zot })}\n`,
      signal: running.signal,
    })
    let read = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      read += chunk
      if (read.includes('pid ') && read.split('\n\n').length > 3) break
    }
    // What a program reads is as it is on stdio.
    const out = read.split('\n').flatMap((line) => {
      const { out: text = '' } = line === '' ? {} : (JSON.parse(line) as { out?: string })
      return text.split('\n').slice(0, -1)
    })
    expect(out.every((line) => line.startsWith('{'))).toBe(true)
    running.abort()
    await until(() => gateway.engine.turns.length === 0)
  })
})
