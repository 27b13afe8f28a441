import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClientName, clientNames, clientOf, failureOf, httpRequest } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = new URL('../kit/agents', import.meta.url).pathname

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex')
const keyOf = (front: ClientName): string => `day-${front.replace(/\W/g, '-')}`

/** Two gateways of one configuration, which share a store. */
let gateways: readonly [TestGateway, TestGateway]

beforeAll(async () => {
  const keys = clientNames.map(keyOf).map((name) => ({ name, limits: '{ tokensPerDay: 1 }' }))
  const yaml = `
server:
  keys:
${[...keys, { name: 'one', limits: '{ turns: 1 }' }, { name: 'guessed', limits: '{ tokensPerDay: 5 }' }]
  .map(({ name, limits }) => `    - { name: ${name}, hash: ${hashOf(name)}, limits: ${limits} }`)
  .join('\n')}
default: coder
limits: { grace: 200ms }
agents:${EXAMPLE_AGENTS}
  sleeper: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["1031"] }
`
  const first = await startGateway(yaml)
  gateways = [first, await startGateway(yaml, { beside: first })]
})
afterAll(async () => {
  await gateways[1].close()
  await gateways[0].close()
})

const post = (at: 0 | 1, path: string, body: string, key: string, more = {}): Promise<Response> =>
  fetch(gateways[at].url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...more },
    body,
  })

test.each(clientNames)('a key that has used its tokens is told so by %s, and when to come again', async (front) => {
  const ask = async (at: 0 | 1): Promise<Response> => {
    const { path, headers, body } = httpRequest(front, { text: 'hi', session: `day-${at}`, id: `r${at}` })
    return post(at, path, body, keyOf(front), headers)
  }
  const first = await ask(0)
  expect([first.status, clientOf(front).failure(await first.text())]).toEqual([200, undefined])
  // The other gateway, which has not run a turn of this key.
  const second = await ask(1)
  const raw = await second.text()
  expect(second.status).toBe(429)
  expect(clientOf(front).failure(raw)).toBe(await failureOf(front, 'overloaded'))
  expect(raw).toMatch(/may use 1 tokens in a day and has used \d+/)
  const wait = Number(second.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(86_400)
})

test('what an agent does not count is estimated, and said to be', async () => {
  const ask = (): Promise<Response> => post(0, '/v1/turns/helper', '{"input":"hello there"}', 'guessed')
  expect((await ask()).status).toBe(200)
  const refused = await ask()
  const { fault } = (await refused.json()) as { fault: { message: string; retryAfterMs: number } }
  expect(fault.message).toMatch(/has used (\d+) \(\1 of them estimated\); send this again after \S+T00:00:00Z\.$/)
})

test('a key has as many turns as it may in all gateways', async () => {
  const begin = (at: 0 | 1): Promise<Response> =>
    post(at, '/v1/turns/sleeper', '{"input":"hi"}', 'one', { prefer: 'respond-async' })
  const first = await begin(0)
  const { id } = (await first.json()) as { id: string }
  const second = await begin(1)
  expect([first.status, second.status, second.headers.get('retry-after')]).toEqual([202, 429, '1'])
  await post(0, `/v1/turns/${id}/cancel`, '', 'one')
  await until(async () => (await begin(1)).status === 202)
  expect((await begin(0)).status).toBe(429)
  for (const turn of gateways[1].engine.turns) turn.cancel()
  await until(() => gateways[1].engine.turns.length === 0)
})
