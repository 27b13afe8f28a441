import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentPool } from '../../src/engine/agent/agent-pool.ts'
import type { AgentLink } from '../../src/engine/agent/index.ts'
import { SessionLink } from '../../src/engine/session/session-link.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { LIMITS, plainAgent, plainTurn, serving, start } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

const OWNER = { idleEvent() {}, callFailed() {} }
const tick = (): Promise<void> => new Promise((after) => setImmediate(after))

function waitingTurn(pool: AgentPool, id = 't'): Turn {
  const { turn } = plainTurn({ agent: pool.agent, command: start({ turn: id }) })
  return turn
}

/** The number of places of a pool that are free; they stay so. */
function freeOf(pool: AgentPool, max: number): number {
  const { turn } = plainTurn({ agent: pool.agent })
  let free = 0
  while (free < max && pool.take(turn.scope, OWNER, {})) free += 1
  for (let taken = 0; taken < free; taken += 1) pool.vacate()
  return free
}

describe('the link of a session', () => {
  test('is kept where its process lives over turns', async () => {
    const pool = new AgentPool(plainAgent(serving(''), {}, { persistent: true }), () => false)
    const link = new SessionLink(pool, OWNER)
    const turn = waitingTurn(pool)
    const first = await link.open(turn, pool, {})
    link.settle(first!)
    expect([link.live, link.isMemory, await link.open(turn, pool, {})]).toEqual([first, true, first])
    turn.cancel()
    await pool.close(50)
    link.settle(first!)
    expect(link.live).toBeUndefined()
  })

  test('of another pool is given up for one of the pool that is wanted', async () => {
    const [old, next] = [1, 2].map(() => new AgentPool(plainAgent(serving(''), {}, { persistent: true }), () => false))
    const link = new SessionLink(old!, OWNER)
    const turn = waitingTurn(old!)
    const first = await link.open(turn, old!, {})
    const second = await link.open(turn, next!, {})
    expect([first?.dead, link.pool, link.live]).toEqual([true, next, second])
    turn.cancel()
    await Promise.all([old!.close(50), next!.close(50)])
  })

  test.each([
    [['/'], { cwd: '/work' }],
    [undefined, {}],
  ] as const)('of an agent with the workspaces %j runs in the folder of its client', async (workspaces, where) => {
    const backend = new ScriptedBackend()
    const agent = plainAgent('', { backend, ...(workspaces && { workspaces }) }, { persistent: true })
    const pool = new AgentPool(agent, () => false)
    const turn = waitingTurn(pool)
    await new SessionLink(pool, OWNER).open(turn, pool, { cwd: '/work' })
    expect(backend.calls).toMatchObject([{ call: { kind: 'process' } }])
    expect(backend.calls.map(({ call }) => ('cwd' in call ? { cwd: call.cwd } : {}))).toEqual([where])
    turn.cancel()
  })

  test('is none for a turn that finds the line full', async () => {
    const pool = new AgentPool(plainAgent('', { limits: { ...LIMITS, queue: 0 } }), () => false)
    const [one, two] = [new SessionLink(pool, OWNER), new SessionLink(pool, OWNER)]
    const [first, second] = [waitingTurn(pool, '1'), waitingTurn(pool, '2')]
    await one.open(first, pool, {})
    expect(await two.open(second, pool, {})).toBeUndefined()
    expect(second.view.end?.fault?.code).toBe('overloaded')
    first.cancel()
  })
})

test('whoever waits, leaves or is done: no place is leaked, and none is given twice', async () => {
  const op = fc.record({ who: fc.nat({ max: 3 }), do: fc.constantFrom('open', 'leave', 'settle') })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2 }), fc.array(op, { maxLength: 25 }), async (max, ops) => {
      const agent = plainAgent('', { limits: { ...LIMITS, queue: 9 }, pool: { warm: 0, max, idle: 60_000 } })
      const pool = new AgentPool(agent, () => false)
      const sessions = Array.from({ length: 4 }, () => ({
        link: new SessionLink(pool, OWNER),
        turn: undefined as Turn | undefined,
        held: undefined as AgentLink | undefined,
      }))
      const settle = (one: (typeof sessions)[number]): void => {
        one.turn?.cancel()
        if (one.held) one.link.settle(one.held)
        one.turn = one.held = undefined
      }
      let ids = 0
      for (const { who, do: what } of ops) {
        const one = sessions[who]!
        if (what === 'open' && !one.turn) {
          const turn = waitingTurn(pool, String(++ids))
          one.turn = turn
          void Promise.resolve(one.link.open(turn, pool, {})).then((link) => {
            one.held = link
          })
        } else if (what === 'leave' && one.turn && !one.held) {
          // A turn that is cancelled leaves the line of its session, which leaves that of the pool.
          one.turn.cancel()
          one.link.leaveLine()
          await tick()
          if (!one.held) one.turn = undefined
        } else if (what === 'settle' && one.held) settle(one)
        await tick()
        expect(sessions.filter(({ held }) => held).length).toBeLessThanOrEqual(max)
      }
      while (sessions.some(({ turn }) => turn)) {
        for (const one of sessions) if (one.held) settle(one)
        await tick()
      }
      expect(freeOf(pool, 9)).toBe(max)
    }),
  )
})

describe('the end of a link', () => {
  const persistent = (more: object = {}) =>
    new AgentPool(plainAgent(serving(''), more, { persistent: true }), () => false)

  test('gives its place back for a process of one turn, and keeps it for one that lives on', async () => {
    const brief = new AgentPool(plainAgent('', { pool: { warm: 0, max: 1, idle: 60_000 } }), () => false)
    const link = new SessionLink(brief, OWNER)
    const turn = waitingTurn(brief)
    const first = await link.open(turn, brief, {})
    expect([freeOf(brief, 1), link.isMemory]).toEqual([0, false])
    link.settle(first!)
    expect(freeOf(brief, 1)).toBe(1)
    turn.cancel()

    const pool = persistent({ pool: { warm: 0, max: 1, idle: 60_000 } })
    const kept = new SessionLink(pool, OWNER)
    const other = waitingTurn(pool)
    const second = await kept.open(other, pool, {})
    kept.settle(second!)
    expect([freeOf(pool, 1), kept.live]).toEqual([0, second])
    kept.release()
    kept.release()
    expect(kept.live).toBeUndefined()
    other.cancel()
    await pool.close(50)
  })

  test('that has died makes room for another one', async () => {
    const pool = persistent()
    const link = new SessionLink(pool, OWNER)
    const turn = waitingTurn(pool)
    const first = await link.open(turn, pool, {})
    await first!.stop('closed', 50)
    expect([first!.dead, link.live]).toEqual([true, undefined])
    const second = await link.open(turn, pool, {})
    expect([second === first, link.live]).toEqual([false, second])
    turn.cancel()
    await pool.close(50)
  })

  test('is told to the trace of the next turn: it is kept', async () => {
    const pool = persistent()
    const link = new SessionLink(pool, OWNER)
    const turns = [waitingTurn(pool, '1'), waitingTurn(pool, '2')]
    const origins: string[] = []
    for (const turn of turns) turn.scope.linked = (origin) => void origins.push(origin)
    for (const turn of turns) link.settle((await link.open(turn, pool, {}))!)
    expect(origins).toEqual(['new', 'kept'])
    for (const turn of turns) turn.cancel()
    await pool.close(50)
  })
})

describe('a turn that waits for a place', () => {
  const full = async () => {
    const agent = plainAgent('', { limits: { ...LIMITS, queue: 9 }, pool: { warm: 0, max: 1, idle: 60_000 } })
    const pool = new AgentPool(agent, () => false)
    const [one, two] = [new SessionLink(pool, OWNER), new SessionLink(pool, OWNER)]
    const [first, second] = [waitingTurn(pool, '1'), waitingTurn(pool, '2')]
    const held = (await one.open(first, pool, {}))!
    const phases: string[] = []
    const enter = second.timer.enter.bind(second.timer)
    second.timer.enter = (phase) => {
      phases.push(phase)
      enter(phase)
    }
    const waits = two.open(second, pool, {}) as Promise<AgentLink | undefined>
    const end = (): void => {
      first.cancel()
      second.cancel()
    }
    return { pool, one, two, first, second, held, waits, phases, end }
  }

  test('says so, and has the place that becomes free', async () => {
    const { pool, one, two, held, waits, phases, end } = await full()
    expect(phases).toEqual(['place'])
    one.settle(held)
    const link = await waits
    expect([link, two.live, freeOf(pool, 1)]).toEqual([two.live, link, 0])
    two.settle(link!)
    expect(freeOf(pool, 1)).toBe(1)
    end()
  })

  test('gives a place back that it gets after its end', async () => {
    const { pool, one, two, second, held, waits, end } = await full()
    second.cancel()
    one.settle(held)
    expect([await waits, two.live, freeOf(pool, 1)]).toEqual([undefined, undefined, 1])
    end()
  })

  test('that leaves the line takes no place', async () => {
    const { pool, one, two, held, waits, end } = await full()
    two.leaveLine()
    two.leaveLine()
    expect(await waits).toBeUndefined()
    one.settle(held)
    expect(freeOf(pool, 1)).toBe(1)
    end()
  })
})
