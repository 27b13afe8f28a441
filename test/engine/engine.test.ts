import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Store, silentHooks } from '../../src/contract/index.ts'
import type { AgentSettings, EngineSettings } from '../../src/engine/common/index.ts'
import { Engine } from '../../src/engine/engine.ts'
import { fault } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { DONE, LIMITS, plainAgent, plainWire, SILENT_LOG, serving, start } from '../kit/plain.ts'

let store: Store
let engine: Engine | undefined
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => engine?.close(0))

const settings = (agent: AgentSettings, more: Partial<EngineSettings> = {}): EngineSettings =>
  settingsOf([agent], { default: agent.name, limits: { ...LIMITS, line: 4077 }, ...more })

function opened(agent: AgentSettings): Engine {
  engine = new Engine({ settings: settings(agent), store, hooks: silentHooks, log: SILENT_LOG, keepAliveMs: 99 })
  return engine
}

/** Gives the engine a turn of a client; the answer once the client's wire has its end. */
function ask(of: Engine, turn = 't'): Promise<string> {
  const { options, answered } = plainWire()
  const client = of.client(options)
  client.open()
  client.push(`${JSON.stringify(start({ turn }))}\n`)
  return answered
}

const QUICK = plainAgent(`read -r line; ${DONE}`)
/** Never ends a turn by itself. */
const SLOW = plainAgent('read -r line; read -r never')

describe('an engine', () => {
  test('answers a client, and forgets the turn', async () => {
    const of = opened(QUICK)
    expect(await ask(of)).toContain('"outcome":"completed"')
    expect([of.turns, of.state]).toEqual([[], 'ready'])
  })

  test('says what its routes need to know', () => {
    const of = opened(QUICK)
    expect([of.lineLimit, of.keepAliveMs, of.settings.agents.size]).toEqual([4077, 99, 1])
  })

  test('takes new settings for what begins from then on', async () => {
    const of = opened(SLOW)
    const running = ask(of, 'old')
    while (of.turns.length === 0) await new Promise((after) => setImmediate(after))
    of.reload(settings({ ...QUICK, name: 'next' }))
    expect(await ask(of)).toContain('"outcome":"completed"')
    expect(of.turns.map(({ id, agent }) => [id, agent.name])).toEqual([['old', 'plain']])
    of.turns[0]!.cancel()
    expect(await running).toContain('"outcome":"cancelled"')
  })

  test('that stops takes no turn more, and cancels those that do not end', async () => {
    const of = opened(SLOW)
    const running = ask(of)
    while (of.turns.length === 0) await new Promise((after) => setImmediate(after))
    const closed = of.close(20)
    engine = undefined
    expect(of.state).toBe('stopping')
    expect(await ask(of, 'late')).toContain('"agent-unavailable"')
    await closed
    expect(await running).toContain('"outcome":"cancelled"')
  })

  test('ends what a process before it has left, under the name that it serves', async () => {
    const lease = { owner: 'here', epoch: await store.takeLease('here', 1, Number.MAX_SAFE_INTEGER) }
    const key = { tenant: 'local', agent: 'plain', session: 's', conversation: '' }
    const { id } = await store.openSession(key, 'kept', 1)
    const about = {
      session: id,
      tenant: 'local',
      agent: 'plain',
      front: 'plain',
      startedAt: Date.now(),
      delivered: false,
    }
    await store.beginTurn({ turn: 'left', ...about, ...lease })
    const of = opened(QUICK)
    await of.serve('here')
    expect(await store.readTurn('left')).toMatchObject({ outcome: 'failed', code: 'internal' })
  })

  test('has the breakers of its agents', async () => {
    const of = opened(QUICK)
    for (let failure = 0; failure < 2; failure += 1)
      of.breakers.recordOutcome(QUICK, fault('agent-unavailable', 'down'))
    expect(await ask(of)).toContain('"agent-unavailable"')
  })

  test('starts warm processes', async () => {
    const agent = plainAgent(serving(DONE), { pool: { warm: 1, max: 1, idle: 60_000 } }, { persistent: true })
    expect(await ask(opened(agent))).toContain('"outcome":"completed"')
  })
})
