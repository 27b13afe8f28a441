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
