import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname

describe('a client that closes its sending side behind a whole request', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    const roster = `command: ${process.execPath}, args: [${KIT}/roster.mjs], env: { ROSTER: "\${TEST_FOLDER}/roster" }`
    gateway = await startGateway(
      `default: native\nlimits: { grace: 300ms }\nagents: { native: { protocol: native, ${roster} } }`,
      { keepAliveMs: 60_000 },
    )
  })
  afterAll(() => gateway.close())

  const LINES = 'application/x-ndjson'
  const about = { argv: ['--rpc'], env: {}, interactive: false }
  const turn = { type: 'turn', message: 'wait', session_id: '', session_name: 'default', protocol_version: '0.4' }
  const variables = { AGENT_MESSAGE: 'wait', AGENT_STREAMING: '0' }
  const shell = {
    protocol_version: '1.0.0',
    request: { context: { session_id: 's', user_intent: 'wait' } },
  }
  const zot = '{"id":"1","type":"prompt","message":"wait"}\n'
  const qwenCode = '{"type":"user","message":{"role":"user","content":"wait"}}\n'
  const DOORS: readonly [path: string, accept: string, body: string][] = [
    ['/v1/turns', 'application/json', JSON.stringify({ input: 'wait' })],
    ['/v1/turns', 'text/event-stream', JSON.stringify({ input: 'wait' })],
    ['/v1/turns', LINES, JSON.stringify({ input: 'wait' })],
    ['/v1/openharness', 'application/json', JSON.stringify(shell)],
    ['/v1/zene', 'application/json', JSON.stringify({ request_id: 'r', session_id: 's', prompt: 'wait' })],
    ['/v1/zene', LINES, JSON.stringify({ request_id: 'l', session_id: 'l', prompt: 'wait' })],
    [
      '/v1/respond',
      'application/json',
      JSON.stringify({ agent: 'native', prompt: 'wait', channel_id: 'c', session_id: 'c' }),
    ],
    ['/v1/zot', LINES, zot],
    ['/v1/qwen-code', LINES, qwenCode],
    ['/v1/agentproc', LINES, JSON.stringify(turn)],
    ['/v1/agentproc', 'text/plain', JSON.stringify(variables)],
    ['/v1/stdio/zot', LINES, `${JSON.stringify(about)}\n${JSON.stringify({ in: zot })}\n`],
  ]

  /** Sends a whole request. */
  function ask(path: string, accept: string, body: string, version = '1.1'): { socket: Socket; read: () => string } {
    const { hostname, port } = new URL(gateway.url)
    const type = body.startsWith('{"id"') || body.includes('\n') ? LINES : 'application/json'
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let read = ''
    socket.setEncoding('utf8').on('data', (text) => {
      read += String(text)
    })
    socket.on('error', () => {})
    socket.write(
      `POST ${path} HTTP/${version}\r\nHost: ${hostname}:${port}\r\nContent-Type: ${type}\r\nAccept: ${accept}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    return { socket, read: () => read }
  }
  const running = () => gateway.engine.turns.find(({ steerable }) => steerable)

  test.each(DOORS)('has its answer: %s as %s', async (path, accept, body) => {
    const { socket, read } = ask(path, accept, body)
    socket.end()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await until(() => running() !== undefined)
    running()!.tellAgent({ exchange: 'x', input: [] })
    await closed
    expect(read()).toMatch(/pid \d+/)
    expect(read()).toContain('HTTP/1.1 200 OK')
  })

  test('has its answer over HTTP/1.0, which has no interim responses', async () => {
    const { socket, read } = ask('/v1/turns', 'application/json', JSON.stringify({ input: 'wait' }), '1.0')
    socket.end()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await until(() => running() !== undefined)
    running()!.tellAgent({ exchange: 'x', input: [] })
    await closed
    expect(read()).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*pid \d+/)
  })

  test.each(DOORS.filter(([path]) => path !== '/v1/zene'))(
    'is seen to have left when it has: %s as %s',
    async (path, accept, body) => {
      const { socket } = ask(path, accept, body)
      await until(() => running() !== undefined)
      const left = running()!
      socket.end(() => socket.destroy())
      await until(() => left.ended)
      expect(left.view.end?.outcome).toBe('cancelled')
    },
  )
})
