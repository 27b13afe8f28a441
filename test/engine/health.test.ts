import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { httpBackend } from '../../src/backends/index.ts'
import { capabilities } from '../../src/contract/index.ts'
import { HealthChecks } from '../../src/engine/agent/health.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { ITEMS } from '../../src/model/index.ts'
import { ALL, type PlainBack, plainAgent, say, serving } from '../kit/plain.ts'

afterEach(() => void vi.useRealTimers())

const EVERY = 1000
const UNASKED = capabilities({ full: ITEMS.filter((item) => item !== 'query.health') })

/** Lets the time of one check come, and resolves with what it found: a fault's text, or nothing wrong. */
async function checked(agent: AgentSettings): Promise<string | undefined> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let checks!: HealthChecks
  const found = new Promise<string | undefined>((resolve) => {
    checks = new HealthChecks((of, fault) => resolve(of === agent ? fault?.message : 'another agent'))
  })
  checks.watch([agent, { ...agent, name: 'unchecked', health: undefined } as unknown as AgentSettings])
  vi.advanceTimersByTime(EVERY)
  const said = await found
  checks.close()
  expect(vi.getTimerCount()).toBe(0)
  return said
}

const agent = (script: string, back: PlainBack = {}, timeout = 20_000): AgentSettings =>
  plainAgent(script, { health: { every: EVERY, timeout } }, { persistent: true, ...back })
const reply = (more: object) => say({ turn: null, type: 'command-reply', exchange: 'health', ...more })

test('an agent that answers the question works', async () => {
  expect(await checked(agent(serving(reply({ data: '{}' }))))).toBeUndefined()
})

test('an agent without a question works when it is ready', async () => {
  expect(await checked(agent(serving(''), { able: UNASKED }))).toBeUndefined()
})

test('an agent that says what is wrong does not', async () => {
  const fault = { code: 'internal', message: 'no disk', retryable: false }
  expect(await checked(agent(serving(reply({ fault }))))).toBe('no disk')
})

test('an agent that exits does not', async () => {
  expect(await checked(agent('exit 7'))).toContain('exited with code 7')
})

test('an agent that does not answer in time does not', async () => {
  expect(await checked(agent(serving(''), {}, 50))).toBe('The agent "plain" did not answer its health check in 50 ms.')
})

test.each([
  [200, undefined],
  [404, undefined],
  [503, 'The agent "plain" cannot be reached.'],
])('a server that answers %i: %s', async (status, found) => {
  const server = createServer((_request, response) => {
    response.statusCode = status
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const backend = httpBackend({ url, headers: {} })
  expect(await checked({ ...agent(''), backend, target: { kind: 'http', url } })).toBe(found)
  await backend.close(0)
  await new Promise((resolve) => server.close(resolve))
})

test('an agent that could only be asked by a turn is not checked', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const found: unknown[] = []
  const checks = new HealthChecks((_agent, fault) => found.push(fault))
  checks.watch([agent('', { persistent: false, able: UNASKED })])
  vi.advanceTimersByTime(EVERY)
  await new Promise((resolve) => setImmediate(resolve))
  expect(found).toEqual([])
  expect(ALL['query.health']).toBe('full')
  checks.close()
})
