import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway(`agents:\n${EXAMPLE_AGENTS}`)
})
afterAll(() => gateway.close())

test('each of more paths than are remembered goes to its own handler, with its own names', async () => {
  const body = JSON.stringify({ protocol_version: 1, type: 'run', request_id: 'r', session_id: 's', prompt: 'hi' })
  const names = Array.from({ length: 300 }, (_, at) => `nobody-${at}`)
  const headers = { 'content-type': 'application/json' }
  const ask = async (name: string): Promise<string> => {
    const answer = await fetch(`${gateway.url}/v1/zene/${name}`, { method: 'POST', headers, body })
    return ((await answer.json()) as { error_message: string }).error_message
  }
  for (const name of [...names, ...names.slice(-2), 'nobody-0']) expect(await ask(name)).toContain(`"${name}"`)
  expect((await fetch(`${gateway.url}/v1/zene/nobody-0`)).status).toBe(405)
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${gateway.url}/healthz/no`)).status).toBe(404)
})
