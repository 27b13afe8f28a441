import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { Breakers } from '../../src/engine/agent/breakers.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { Upkeep } from '../../src/engine/record/upkeep.ts'
import { fault } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { notingLog, plainAgent } from '../kit/plain.ts'

const HOUR = 3_600_000
const RETENTION = 1000

let store: Store
let now: number
let upkeep: Upkeep
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'hrtime'] })
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  now = 100 * HOUR
})
afterEach(async () => {
  upkeep.close()
  vi.useRealTimers()
  await store.close()
})

/** Upkeep of a store, with these agents; what it logged, and what the breakers were told. */
function keeping(agents: readonly AgentSettings[] = []) {
  const logged: unknown[] = []
  const breakers = new Breakers(() => 0)
  const settings = { current: settingsOf(agents, { retention: RETENTION }) }
  upkeep = new Upkeep({
    store,
    breakers,
    settings,
    log: notingLog((message, fields) => void logged.push([message, fields])),
    now: () => now,
  })
  return { logged, breakers, settings, upkeep }
}

/** Time passes on the wall clock and on the one that is never set. */
async function pass(ms: number): Promise<void> {
  now += ms
  await vi.advanceTimersByTimeAsync(ms)
}

describe('old turns', () => {
  /** The `before` of each piece of work, which gives these numbers of deleted turns. */
  function pruned(...counts: (number | Error)[]): number[] {
    const before: number[] = []
    store.prune = async (at: number, most: number) => {
      expect(most).toBe(100)
      before.push(at)
      const count = counts.shift() ?? 0
      if (count instanceof Error) throw count
      return count
    }
    return before
  }

  test('are deleted a hundred at a time, until fewer are left', async () => {
    const before = pruned(100, 100, 99)
    const { upkeep: it, logged } = keeping()
    await it.prune()
    expect([before, logged]).toEqual([Array(3).fill(now - RETENTION), []])
  })

  test('are looked for every hour, by the retention of the settings as they are then', async () => {
    const before = pruned()
    const { settings } = keeping()
    await pass(HOUR - 1)
    expect(before).toEqual([])
    settings.current = settingsOf([], { retention: 7 })
    await pass(1)
    expect(before).toEqual([now - 7])
    await pass(HOUR)
    expect(before).toHaveLength(2)
  })

  test('stay while the clock is set forward, which is not the time that has passed', async () => {
    const before = pruned()
    const { upkeep: it } = keeping()
    const began = now
    now += 1000 * HOUR
    await it.prune()
    expect(before).toEqual([began - RETENTION])
    now = began - 5 * HOUR
    await it.prune()
    expect(before[1]).toBe(now - RETENTION)
  })

  test('that cannot be deleted are reported, and looked for again', async () => {
    const before = pruned(100, new Error('disk full'))
    const { upkeep: it, logged } = keeping()
    await it.prune()
    expect(logged).toEqual([['old turns could not be deleted', { error: 'Error: disk full' }]])
    await pass(HOUR)
    expect(before).toHaveLength(3)
  })
})

describe('lost turns', () => {
  const begin = async (turn: string): Promise<void> => {
    await store.openSession({ tenant: 'local', agent: 'a', session: 's', conversation: '' }, 'kept', 1)
    const about = { session: 'kept', tenant: 'local', agent: 'a', front: 'zot', startedAt: 1, delivered: false }
    await store.beginTurn({ ...about, turn, owner: 'gone', epoch: 1 })
  }

  test('are ended, and their number is logged', async () => {
    await begin('one')
    await begin('two')
    const { upkeep: it, logged } = keeping()
    await it.recover()
    expect(logged).toEqual([['turns of a process that is gone were ended', { turns: 2 }]])
    expect(await store.readTurn('one')).toMatchObject({ outcome: 'failed', endedAt: now })
    await it.recover()
    expect(logged).toHaveLength(1)
  })

  test('are looked for at the interval, also after a time at which the store could not be read', async () => {
    const { upkeep: it } = keeping()
    const lostTurns = store.lostTurns.bind(store)
    let looks = 0
    store.lostTurns = (at) => {
      looks += 1
      if (looks === 2) throw new Error('closed')
      return lostTurns(at)
    }
    await pass(5000)
    expect(looks).toBe(0)
    it.keepRecovering(2000)
    await pass(6000)
    expect(looks).toBe(3)
    it.close()
    await pass(6000)
    expect(looks).toBe(3)
  })
})

describe('a health check', () => {
  const health = { every: 1000, timeout: 500 }
  /** An agent over HTTP that answers its check with this status, or not at all. */
  const agentThat = (status: () => number | undefined, more: Partial<AgentSettings> = {}): AgentSettings =>
    plainAgent('', {
      target: { kind: 'http', url: 'http://h' } as never,
      health,
      backend: {
        open: (_call, sink) => {
          const is = status()
          if (is !== undefined) queueMicrotask(() => sink.head!({ status: is, headers: {} }))
          return { write: () => true, endInput() {}, pause() {}, resume() {}, stop() {} }
        },
        close: async () => {},
      },
      ...more,
    })

  test('opens the circuit of an agent that fails, and closes it again', async () => {
    let status: number | undefined = 500
    const agent = agentThat(() => status)
    const { breakers, logged } = keeping([agent])
    await pass(1000)
    expect([breakers.state(agent), logged]).toEqual([
      'closed',
      [['an agent failed its health check', { agent: 'plain', why: 'The agent "plain" cannot be reached.' }]],
    ])
    await pass(1000)
    expect(breakers.state(agent)).toBe('open')
    status = 404
    await pass(1000)
    expect(breakers.state(agent)).toBe('closed')
    expect(logged.slice(2)).toEqual([['an agent works again', { agent: 'plain' }]])
    await pass(1000)
    expect(logged).toHaveLength(3)
  })

  test('that is not answered in time is a failure', async () => {
    const agent = agentThat(() => undefined)
    const { logged } = keeping([agent])
    await pass(1499)
    expect(logged).toEqual([])
    await pass(1)
    expect(logged).toEqual([
      [
        'an agent failed its health check',
        { agent: 'plain', why: 'The agent "plain" did not answer its health check in 500 ms.' },
      ],
    ])
  })

  test('ends a cause that is not its own: any failure of it counts as an agent that cannot be reached', async () => {
    const agent = agentThat(() => 503)
    const { breakers } = keeping([agent])
    const told: unknown[] = []
    breakers.recordOutcome = (_agent, found) => void told.push(found)
    await pass(1000)
    expect(told).toEqual([fault('agent-unavailable', 'The agent "plain" cannot be reached.')])
  })

  test('is made of the agents of the settings as they are', async () => {
    let checks = 0
    const count = (): number => {
      checks += 1
      return 200
    }
    const { settings, upkeep: it } = keeping([])
    await pass(3000)
    expect(checks).toBe(0)
    settings.current = settingsOf([agentThat(count), agentThat(count, { name: 'away', away: true } as never)])
    it.watch()
    await pass(2000)
    expect(checks).toBe(2)
    it.close()
    await pass(3000)
    expect(checks).toBe(2)
  })
})
