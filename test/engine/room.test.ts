import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Route, Store } from '../../src/contract/index.ts'
import { EVENT_SIZE } from '../../src/engine/record/room.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { type PlainHost, plainTurn, start } from '../kit/plain.ts'

/** The most that all turns may hold. */
const MOST = 100_000

let store: Store
beforeEach(async () => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
})
afterEach(() => store.close())

/** A gateway in which turns say texts of these lengths. */
function talking(route: Partial<Route> = {}) {
  const { turns, recorder, watch } = engineParts(store, settingsOf([]), { mostHeld: MOST })
  const begin = async (id: string): Promise<{ turn: Turn; host: PlainHost; say: (length: number) => void }> => {
    const { turn, host } = plainTurn({ command: start({ turn: id }), route, peers: { recorder, turns } })
    turns.add(turn)
    await recorder.begin(turn, { tenant: 'local', front: 'plain', promised: false })
    turn.take({ type: 'message-start', turn: id, message: 'm', role: 'assistant' })
    const say = (length: number): void => {
      turn.take({ type: 'text-delta', turn: id, message: 'm', text: 'x'.repeat(length) })
    }
    return { turn, host, say }
  }
  return { begin, turns, close: () => watch.close() }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const end = (id: string): TurnEvent => ({ type: 'turn-end', turn: id, outcome: 'completed' })
const becameOf = ({ view }: Turn): string | undefined => view.end?.fault?.code ?? view.end?.outcome

test.each<Partial<Route>>([{}, { journal: 'shape' }])(
  'of turns that hold too much the largest ends: %j',
  async (route) => {
    const { begin, close } = talking(route)
    const [small, large, last] = [await begin('a'), await begin('b'), await begin('c')]
    small.say(10_000)
    large.say(50_000)
    last.say(39_000)
    await settled()
    expect([small, large, last].map(({ turn }) => becameOf(turn))).toEqual([undefined, undefined, undefined])
    small.say(1000)
    // Not within the event of another turn.
    expect(becameOf(large.turn)).toBeUndefined()
    await settled()
    expect([small, large, last].map(({ turn }) => becameOf(turn))).toEqual([undefined, 'overloaded', undefined])
    small.turn.take(end('a'))
    last.say(50_000)
    await settled()
    expect([small, large, last].map(({ turn }) => becameOf(turn))).toEqual(['completed', 'overloaded', undefined])
    last.say(12_000)
    await settled()
    expect(becameOf(last.turn)).toBe('overloaded')
    expect(last.host.events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'failed', fault: { retryable: true } })
    close()
  },
)

test('law: all turns together never hold more, and no turn ends that is not the largest', async () => {
  const says = fc.array(fc.record({ of: fc.nat(4), length: fc.nat(Math.floor(MOST / 3)) }), { maxLength: 30 })
  let runs = 0
  await fc.assert(
    fc.asyncProperty(says, async (pieces) => {
      const { begin, close } = talking()
      runs += 1
      const all = await Promise.all([0, 1, 2, 3, 4].map((at) => begin(`${runs}-${at}`)))
      const held = new Map(all.map((one) => [one, 0]))
      for (const { of, length } of pieces) {
        const one = all[of]!
        if (one.turn.ended) continue
        one.say(length)
        held.set(one, held.get(one)! + length + EVENT_SIZE)
        const before = [...held].filter(([{ turn }]) => !turn.ended)
        await settled()
        const ended = before.filter(([{ turn }]) => turn.ended).map(([, size]) => size)
        const left = before.filter(([{ turn }]) => !turn.ended).map(([, size]) => size)
        expect(left.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST)
        // Beginnings of messages count too, so two that are nearly the same may change places.
        for (const size of ended) expect(size).toBeGreaterThanOrEqual(Math.max(0, ...left) - 10 * EVENT_SIZE)
      }
      close()
    }),
    { numRuns: 50 },
  )
})
