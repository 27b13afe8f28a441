import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentStatus, Overview } from '../../src/engine/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway(`
server:
  keys:
    - { name: ann, hash: ${hashOf('ann')}, agents: ["*er", loud] }
    - { name: bob, hash: ${hashOf('bob')} }
    - { name: root, hash: ${hashOf('root')}, role: admin }
default: helper
agents:${EXAMPLE_AGENTS}
  loud: { protocol: zot, command: sh, args: ["-c", "echo it broke >&2; exit 3"] }
  away: { protocol: openharness, url: "http://127.0.0.1:9/" }
`)
  await ask('ann', 'helper')
  await ask('ann', 'loud')
  await ask('bob', 'loud')
})
afterAll(() => gateway.close())

async function ask(key: string, agent: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const init = { method: 'POST', headers, body: '{"input":"hi"}' }
  await (await fetch(`${gateway.url}/v1/turns/${agent}`, init)).text()
}

async function get<T>(key: string, path: string): Promise<T> {
  const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } })
  expect(answer.status).toBe(200)
  return (await answer.json()) as T
}

async function agent(key: string, name: string): Promise<AgentStatus | undefined> {
  const { agents } = await get<{ agents: AgentStatus[] }>(key, '/v1/agents')
  return agents.find((one) => one.name === name)
}

test('agents tell how they are doing', async () => {
  const { firstEvent, total, ...helper } = (await agent('root', 'helper'))!
  expect(helper).toEqual({
    name: 'helper',
    protocol: 'agentproc',
    default: true,
    breaker: 'closed',
    pool: { running: 0, idle: 0, max: 8 },
    queued: 0,
    turns: 1,
    failures: 0,
    errors: [],
  })
  expect([typeof firstEvent?.p50, typeof total?.p95]).toEqual(['number', 'number'])
  expect((await agent('root', 'away'))?.pool).toEqual({ running: 0, idle: 0 })
  expect(await agent('ann', 'away')).toBeUndefined()
})

test('a process that waits for its next turn is idle, and tells its version and model', async () => {
  await ask('root', 'coder')
  expect(await agent('root', 'coder')).toMatchObject({
    pool: { running: 0, idle: 1, max: 8 },
    model: 'example-1',
    version: '0.0.0-example',
  })
})

test('errors are those that the client may see; only operators see what the agent wrote to stderr', async () => {
  const error = { code: 'agent-unavailable', message: expect.stringContaining('ended before it answered hello') }
  const loud = (await agent('root', 'loud'))!
  expect([loud.turns, loud.failures, loud.errors]).toMatchObject([2, 2, [error, error]])
  expect(loud.errors.map(({ stderr }) => stderr)).toEqual(['it broke\n', 'it broke\n'])
  const own = (await agent('ann', 'loud'))!
  expect([own.turns, own.failures, own.errors.length]).toEqual([1, 1, 1])
  expect(own.errors[0]).not.toHaveProperty('stderr')
})

test('the overview has the minutes of the last hour, of what the client may see', async () => {
  const sum = async (key: string) => {
    const { minutes, running, queued } = await get<Overview>(key, '/v1/overview')
    const gaps = new Set(minutes.slice(1).map(({ at }, index) => at - minutes[index]!.at))
    expect([minutes.length, [...gaps], running, queued]).toEqual([60, [60_000], 0, 0])
    return [minutes.reduce((all, { turns }) => all + turns, 0), minutes.reduce((all, { failed }) => all + failed, 0)]
  }
  expect(await sum('ann')).toEqual([2, 1])
  expect(await sum('bob')).toEqual([1, 1])
  expect(await sum('root')).toEqual([4, 2])
})

test('doors are the endpoints of the protocols and the programs that stand in', async () => {
  const { doors } = await get<{ doors: object[] }>('ann', '/v1/doors')
  expect(doors).toContainEqual({
    protocol: 'openai@chat',
    over: 'http',
    method: 'POST',
    path: '/v1/chat/completions',
  })
  expect(doors).toContainEqual({ protocol: 'zene', over: 'stdio', command: 'turnpike as zene' })
  expect(doors).not.toContainEqual({ protocol: 'openai', over: 'stdio', command: 'turnpike as openai' })
})
