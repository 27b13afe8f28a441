import { describe, expect, test } from 'vitest'
import type { LinkOrigin, TurnScope } from '../../src/contract/index.ts'
import type { LinkOwner } from '../../src/engine/agent/agent-link.ts'
import { AgentPool, placesOf } from '../../src/engine/agent/agent-pool.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { DONE, type PlainBack, plainAgent, say, serving } from '../kit/plain.ts'

const owner: LinkOwner = { idleEvent() {}, callFailed() {} }
const REPLY = say({ turn: null, type: 'command-reply', exchange: 'e', data: '7' })
const question = { type: 'query', what: 'models', exchange: 'e' } as const

/** A pool of agents whose process lives over turns; `evictions` counts how often a session was to give up its own. */
function pooled(pool: Partial<AgentSettings['pool']>, back: PlainBack = {}, script = serving(DONE)) {
  const origins: LinkOrigin[] = []
  const scope: TurnScope = { ...SILENT_SCOPE, linked: (origin) => void origins.push(origin) }
  const asked = { evictions: 0, evict: (): boolean => false }
  const agent = plainAgent(script, { pool: { warm: 0, max: 1, idle: 60_000, ...pool } }, { persistent: true, ...back })
  const it = new AgentPool(agent, () => {
    asked.evictions += 1
    return asked.evict()
  })
  return { it, origins, scope, asked, take: () => it.take(scope, owner, {}) }
}

describe('the places of an agent', () => {
  test('are as many as it may have processes, and free again when one has exited', async () => {
    const { it, take, origins } = pooled({ max: 2 })
    const [first, second] = [take(), take()]
    expect([first?.persistent, second?.persistent, take()]).toEqual([true, true, undefined])
    it.release(first!)
    expect(take()).toBeUndefined()
    await first!.quiet()
    await Promise.resolve()
    expect(take()?.persistent).toBe(true)
    expect(origins).toEqual(['new', 'new', 'new'])
    await it.close(50)
  })

  test('of one process a turn are given back by the turn', () => {
    const { it, take } = pooled({ max: 1 }, { persistent: false })
    expect(take()?.persistent).toBe(false)
    expect(take()).toBeUndefined()
    it.vacate()
    expect(take()?.persistent).toBe(false)
  })

  test('behind a URL are without number', () => {
    const agent = plainAgent('', { target: { kind: 'http', url: 'http://127.0.0.1:1/' } })
    const it = new AgentPool(agent, () => false)
    for (let turn = 0; turn < 9; turn += 1) expect(it.take(SILENT_SCOPE, owner, {})).toBeDefined()
  })

  test('that are waited for go to the first in line', async () => {
    const { it, take } = pooled({ max: 1 })
    const link = take()!
    const [first, second] = [it.wait(2), it.wait(2)]
    if ('code' in first || 'code' in second) throw new Error('there is room in the line')
    it.release(link)
    expect(await first.over).toBe(true)
    second.leave()
    expect(await second.over).toBe(false)
  })

  test.each([
    [
      1,
      0,
      'The one process of the agent "plain" is busy, and no turn may wait for one (limit "queue"); try again later.',
    ],
    [1, 1, 'The one process of the agent "plain" is busy, and a turn waits for one (limit "queue"); try again later.'],
    [2, 2, 'All 2 processes of the agent "plain" are busy, and 2 turns wait for one (limit "queue"); try again later.'],
  ])('that %i turns have and %i wait for are too few', async (max, limit, message) => {
    const { it, take } = pooled({ max })
    for (let turn = 0; turn < max; turn += 1) take()
    for (let turn = 0; turn < limit; turn += 1) expect(it.wait(limit)).not.toHaveProperty('code')
    expect(it.wait(limit)).toMatchObject({ code: 'overloaded', message })
    await it.close(50)
  })

  test('are made free by a session that is idle', async () => {
    const { it, take, asked } = pooled({ max: 1 })
    const link = take()!
    asked.evict = () => {
      it.release(link)
      return true
    }
    const waiting = it.wait(0)
    if ('code' in waiting) throw new Error('an idle process gives way')
    expect(await waiting.over).toBe(true)
    expect(asked.evictions).toBe(1)
  })
})

describe('the places of an agent of several replicas', () => {
  test.each([
    [{ max: 8 }, 3, 8],
    [{ max: 8, total: 20 }, 1, 8],
    [{ max: 8, total: 20 }, 3, 6],
    [{ max: 8, total: 2 }, 3, 1],
  ])('of %j at %i replicas are %i', (pool, replicas, places) => {
    expect(placesOf({ warm: 0, idle: 1, ...pool }, replicas)).toBe(places)
  })

  test('are fewer when a replica comes, for which idle processes end, and more when it goes', async () => {
    const { it, take, asked } = pooled({ max: 3, total: 4 })
    const links = [take()!, take()!, take()!]
    asked.evict = () => {
      const idle = links.pop()
      if (idle) it.release(idle)
      return idle !== undefined
    }
    const gone = links[2]!
    it.share(2)
    expect([asked.evictions, links.length, it.free]).toEqual([1, 2, 0])
    await gone.quiet()
    await Promise.resolve()
    expect([take(), asked.evictions]).toEqual([undefined, 1])
    it.share(1)
    expect([it.free, take()?.persistent, take()]).toEqual([1, true, undefined])
    await it.close(50)
  })

  test('are not shared without a number for all, or behind a URL', () => {
    const { it } = pooled({ max: 3 })
    it.share(3)
    expect(it.free).toBe(3)
    const served = plainAgent('', {
      target: { kind: 'http', url: 'http://127.0.0.1:1/' },
      pool: { warm: 0, max: 1, total: 1, idle: 1 },
    })
    const behind = new AgentPool(served, () => false)
    behind.share(2)
    expect(behind.free).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('warm processes', () => {
  test('are started ahead and taken first', async () => {
    const { it, take, origins } = pooled({ warm: 1, max: 2 })
    const warm = take()
    const fresh = take()
    expect([origins, warm === fresh]).toEqual([['warm', 'new'], false])
    expect(warm?.owner).toBe(owner)
    await it.close(50)
  })

  test('are none for a session that a process has to be started for', async () => {
    const { it, scope, origins } = pooled({ warm: 1, max: 2 }, { memory: 'resumed' })
    it.take(scope, owner, { bound: 'its id' })
    expect([origins, it.memory]).toEqual([['new'], 'resumed'])
    await it.close(50)
  })

  test('give way to a turn that waits for a place', async () => {
    const { it, scope, asked } = pooled({ warm: 1, max: 1 }, { memory: 'resumed' })
    expect(it.take(scope, owner, { bound: 'b' })).toBeUndefined()
    const waiting = it.wait(1)
    if ('code' in waiting) throw new Error('a warm process gives way')
    expect([await waiting.over, asked.evictions]).toEqual([true, 0])
  })

  test('of an agent that is no longer configured like this end, and none is started any more', async () => {
    const { it, take } = pooled({ warm: 1, max: 1 })
    it.retire()
    await it.close(50)
    it.refill()
    expect(await it.ask(question, 10)).toBeUndefined()
    expect(take()?.persistent).toBe(true)
    await it.close(50)
  })

  test('are none where every turn has a process of its own', async () => {
    const { it, take } = pooled({ warm: 1, max: 1 }, { persistent: false })
    expect(await it.ask(question, 10)).toBeUndefined()
    expect(take()?.persistent).toBe(false)
  })
})

describe('what is asked of the agent itself', () => {
  test('is answered by a process that is started for it and that the next session takes', async () => {
    const { it, take, origins } = pooled({ max: 1 }, {}, serving(REPLY))
    expect(it.model).toBeUndefined()
    expect(await it.ask(question, 10_000)).toMatchObject({ exchange: 'e', data: '7' })
    expect(it.model).toBe('m1')
    expect(await it.ask(question, 10_000)).toMatchObject({ data: '7' })
    const link = take()!
    expect(origins).toEqual(['warm'])
    it.release(link)
    await link.quiet()
    expect(it.model).toBe('m1')
  })

  test('has no answer where there is no room', async () => {
    const { it, take } = pooled({ max: 1 })
    take()
    expect(await it.ask(question, 10_000)).toBeUndefined()
    await it.close(50)
  })

  test('of its model is known of a process that has exited', async () => {
    const { it, scope } = pooled({ max: 1 })
    const ready = Promise.withResolvers<unknown>()
    const link = it.take(scope, { idleEvent: ready.resolve, callFailed() {} }, {})!
    await ready.promise
    await link.stop('closed', 50)
    await Promise.resolve()
    expect(it.model).toBe('m1')
  })

  test('has no answer when its process exits', async () => {
    const { it } = pooled({ max: 1 }, {}, 'exit 1')
    expect(await it.ask(question, 10_000)).toBeUndefined()
  })
})
