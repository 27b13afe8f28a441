import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import type { Place } from '../../src/engine/dispatch/placement.ts'
import { TurnStarter } from '../../src/engine/dispatch/turn-starter.ts'
import { openStore } from '../../src/store/index.ts'
import { type EntryOptions, engineParts, entryFor, settingsOf } from '../kit/engine-parts.ts'
import { DONE, plainAgent, SILENT_LOG, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

let store: Store
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
})
afterEach(() => store.close())

/** A starter, and the place of a turn. */
async function starting(options: EntryOptions = {}) {
  const agent = plainAgent(`read -r line; ${DONE}`)
  const parts = engineParts(store, settingsOf([agent]))
  const { turns, recorder, watch, watches, breakers, opener, sessions } = parts
  const peers = { recorder, breakers, turns, figures: { ended() {} }, failover: { move() {} }, log: SILENT_LOG }
  const starter = new TurnStarter({ turns, recorder, watch, watches, now: () => 9, clean: (text) => text }, peers)
  const key = { tenant: 'local', agent: 'plain', session: 's', conversation: '' }
  const session = sessions.open(await opener.record(key, 1), agent, undefined)
  const place: Place = { agents: [agent], session }
  const { entry, host } = entryFor(agent, options)
  const over = new Promise<void>((resolve) => {
    host.ended = () => resolve()
  })
  const close = async (): Promise<void> => {
    await over
    await recorder.flush()
    watch.close()
    await sessions.close(50)
  }
  return { ...parts, starter, place, session, entry, host, over, close }
}

describe('a turn begins', () => {
  test('in its line at once, and is recorded before it is accepted', async () => {
    const { starter, entry, place, host, session, turns, close } = await starting({ command: start({ request: 'r' }) })
    const { promise: recorded, resolve } = Promise.withResolvers<void>()
    const begin = store.beginTurn.bind(store)
    store.beginTurn = async (record) => {
      await recorded
      return begin(record)
    }
    const begun = starter.begin(entry, place)
    expect([session.busy, session.occupied, turns.size, host.types]).toEqual([true, false, 1, []])
    resolve()
    await begun
    expect(host.events[0]).toMatchObject({ type: 'turn-accepted', how: 'new', session: 's', request: 'r' })
    expect(session.occupied).toBe(true)
    await close()
    expect(await store.readTurn('t')).toMatchObject({ agent: 'plain', front: 'plain', outcome: 'completed' })
  })

  test('and never runs when it was cancelled before', async () => {
    const { starter, entry, place, host, session, turns, close } = await starting()
    entry.exchange.cancel()
    await starter.begin(entry, place)
    await close()
    expect(host.types).toEqual(['turn-accepted', 'turn-end'])
    expect([session.busy, session.occupied, turns.size]).toEqual([false, false, 0])
  })

  test('without its record where nothing can be written, and says so', async () => {
    const { starter, entry, place, host, watch, close } = await starting()
    watch.failed(storeFailure('full'))
    await starter.begin(entry, place)
    await close()
    expect(host.types).toEqual(['turn-accepted', 'notice', 'turn-end'])
    expect(await store.readTurn('t')).toBeUndefined()
  })
})
