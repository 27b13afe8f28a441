import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { httpBackend } from '../../src/backends/index.ts'
import { type Backend, type CallSink, capabilities } from '../../src/contract/index.ts'
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

describe('the checks of a server', () => {
  /** A server whose answers a test gives: each call with its sink, and the calls that were stopped. */
  function serving(more: Partial<AgentSettings> = {}) {
    const calls: { sink: CallSink; call: unknown; stops: unknown[] }[] = []
    const backend: Backend = {
      open: (call, sink) => {
        const stops: unknown[] = []
        calls.push({ sink, call, stops })
        return { write: () => true, endInput() {}, pause() {}, resume() {}, stop: (...how) => void stops.push(how) }
      },
      close: async () => {},
    }
    const target = { kind: 'http', url: 'http://h' } as const
    const of = plainAgent('', { backend, target, health: { every: EVERY, timeout: 500 }, ...more })
    const found: [string, string | undefined][] = []
    const checks = new HealthChecks(({ name }, fault) => found.push([name, fault?.message]))
    return { of, calls, found, checks }
  }
  const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const REACH = 'The agent "plain" cannot be reached.'

  test.each<[answer: (sink: CallSink) => void, found: string | undefined]>([
    [(sink) => sink.head!({ status: 200, headers: {} }), undefined],
    [(sink) => sink.head!({ status: 499, headers: {} }), undefined],
    [(sink) => sink.head!({ status: 500, headers: {} }), REACH],
    [(sink) => sink.end({ why: 'failed' }), REACH],
    [(sink) => sink.end({ why: 'closed' }), REACH],
  ])('take its first answer, and stop the call', async (answer, expected) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
    const { of, calls, found, checks } = serving()
    checks.watch([of])
    vi.advanceTimersByTime(EVERY)
    const [{ sink, call, stops }] = calls as [(typeof calls)[0]]
    expect(call).toEqual({ kind: 'http', method: 'GET', body: '', answer: 'body' })
    sink.data('more')
    answer(sink)
    sink.head!({ status: 503, headers: {} })
    sink.end({ why: 'closed' })
    await tick()
    expect([found, stops.length > 0, stops[0]]).toEqual([[['plain', expected]], true, ['closed', 0]])
    checks.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('wait for it as long as they may', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
    const { of, found, checks } = serving()
    checks.watch([of])
    vi.advanceTimersByTime(EVERY + 499)
    await tick()
    expect(found).toEqual([])
    vi.advanceTimersByTime(1)
    await tick()
    expect(found).toEqual([['plain', 'The agent "plain" did not answer its health check in 500 ms.']])
    checks.close()
  })

  test('are made at the interval, of those that are watched, and of no agent elsewhere', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
    const { of, calls, checks } = serving()
    const away = { ...of, name: 'away', away: true } as AgentSettings
    checks.watch([of, away])
    vi.advanceTimersByTime(3 * EVERY)
    expect(calls).toHaveLength(3)
    checks.watch([])
    vi.advanceTimersByTime(3 * EVERY)
    expect(calls).toHaveLength(3)
    checks.close()
  })
})
