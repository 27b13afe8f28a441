import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { type AgentStatus, Insight } from '../../src/engine/insight.ts'
import { StorePulse } from '../../src/engine/record/store-pulse.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

const ADMIN = { tenant: 'root', admin: true }

/** A gateway with turns of two tenants: one runs, one waits. */
function watched() {
  const agent = plainAgent('')
  const settings = settingsOf([agent, { ...agent, name: 'other', target: { kind: 'http', url: 'http://x' } }], {
    default: 'other',
  })
  const memory = engineParts(store, settings)
  for (const [tenant, runs] of [
    ['ann', true],
    ['bob', false],
  ] as const) {
    const record = { id: 'kept', tenant, agent: 'plain', session: 's', conversation: '', createdAt: 1, usedAt: 1 }
    const { turn } = plainTurn({ command: start({ turn: tenant }), session: { record }, agent })
    if (runs) turn.scope.queued(0)
    memory.turns.add(turn)
  }
  return new Insight(memory, { current: settings }, new StorePulse(store), () => 9)
}

test('counts turns that run and wait, for who may see them, and looks at the store', async () => {
  const insight = watched()
  const countsOf = async (tenant: string, admin = false) => {
    const { running, queued, store, minutes } = await insight.overview({ tenant, admin })
    return [running, queued, store.writable, minutes.length]
  }
  expect([await countsOf('ann'), await countsOf('bob'), await countsOf('root', true)]).toEqual([
    [1, 0, true, 60],
    [0, 1, true, 60],
    [1, 1, true, 60],
  ])
})

test('adds what other replicas tell, as far as the observer may see it', async () => {
  const [insight, other] = [watched(), watched()]
  const seen = async (tenant: string, admin = false) => {
    const share = JSON.parse(JSON.stringify(other.share({ tenant, admin }))) as ReturnType<Insight['share']>
    const { running, queued } = await insight.overview({ tenant, admin }, [share])
    const [{ pool, queued: waits }] = insight.agents({ tenant, admin }, [share]) as [AgentStatus]
    return [running, queued, pool, waits]
  }
  const pool = { running: 2, idle: 0, max: 2 }
  expect(await seen('ann')).toEqual([2, 0, pool, 2])
  expect(await seen('root', true)).toEqual([2, 2, pool, 2])
})

test('tells of the agents that a key may use', () => {
  const insight = watched()
  const nothing = { breaker: 'closed', turns: 0, failures: 0, errors: [] }
  const other = {
    ...nothing,
    name: 'other',
    protocol: 'plain',
    default: true,
    pool: { running: 0, idle: 0 },
    queued: 0,
  }
  expect(insight.agents(ADMIN)).toMatchObject([
    { ...nothing, name: 'plain', default: false, pool: { running: 1, idle: 0 }, queued: 1 },
    other,
  ])
  expect(insight.agents({ ...ADMIN, allowed: ['o*'] })).toEqual([other])
})
