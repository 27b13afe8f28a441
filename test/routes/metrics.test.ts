import { afterEach, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { startServer } from '../../src/server.ts'
import { startGateway } from '../kit/gateway.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** A gateway with these keys. `counts`: whether it has metrics. */
async function serve(keys: string, counts = true): Promise<string> {
  process.env['METRICS_KEY_ALL'] = 'sesame-all'
  process.env['METRICS_KEY_ONE'] = 'sesame-one'
  const gateway = await startGateway(`
agents: { a: { protocol: agentproc, command: /bin/true, args: [] } }
server: { keys: [${keys}] }
`)
  const { engine, config } = gateway
  const metrics = { type: 'text/plain; version=0.0.4; charset=utf-8', text: () => 'up 1\n' }
  const parts = {
    engine,
    codecs: Object.values(await loadCodecs()),
    version: '0',
    command: 'turnpike',
    ...(counts && { metrics }),
  }
  const server = await startServer({ ...config.server, port: 0 }, parts)
  cleanups.push(
    () => gateway.close(),
    () => server.close(),
  )
  return `${server.url}/metrics`
}

const KEYS = '{ name: all, env: METRICS_KEY_ALL }, { name: one, env: METRICS_KEY_ONE, agents: [a] }'

async function get(url: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const response = await fetch(url, { headers })
  return [response.status, response.headers.get('content-type')!.startsWith('text/plain') ? await response.text() : '']
}

describe('GET /metrics', () => {
  test('is open on a gateway without keys, under the type that Prometheus expects', async () => {
    const url = await serve('')
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([200, 'up 1\n'])
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  test('needs a key like everything else, and one that is for all agents', async () => {
    const url = await serve(KEYS)
    expect(await get(url)).toEqual([401, ''])
    expect(await get(url, { authorization: 'Bearer wrong' })).toEqual([401, ''])
    expect(await get(url, { authorization: 'Bearer sesame-one' })).toEqual([403, ''])
    expect(await get(url, { authorization: 'Bearer sesame-all' })).toEqual([200, 'up 1\n'])
  })

  test('answers no web page of another site', async () => {
    expect(await get(await serve(''), { origin: 'https://evil.example' })).toEqual([403, ''])
  })

  test('is not there when nothing is counted', async () => {
    expect(await get(await serve('', false))).toEqual([404, ''])
  })
})
