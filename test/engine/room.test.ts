import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Route, Store } from '../../src/contract/index.ts'
import { EVENT_SIZE, Room } from '../../src/engine/record/room.ts'
import type { TurnPage } from '../../src/engine/record/turn-page.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { type PlainHost, plainTurn, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

/** The most that all turns may hold. */
const MOST = 100_000

let store: Store
beforeEach(async () => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
})
afterEach(() => store.close())

/** An event without its turn. */
type Told = DistributiveOmit<TurnEvent, 'turn'>
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

interface Talker {
  turn: Turn
  host: PlainHost
  /** Says a text of this length. */
  say(length: number): void
  emit(event: Told): void
}

/** A gateway in which turns say texts of these lengths. */
function talking(route: Partial<Route> = {}) {
  const { turns, recorder, watch } = engineParts(store, settingsOf([]), { mostHeld: MOST })
  const begin = async (id: string): Promise<Talker> => {
    const { turn, host } = plainTurn({ command: start({ turn: id }), route, peers: { recorder, turns } })
    turns.add(turn)
    watch.began(turn, false)
    await recorder.begin(turn, { tenant: 'local', front: 'plain', promised: false })
    turn.take({ type: 'message-start', turn: id, message: 'm', role: 'assistant' })
    const say = (length: number): void => {
      turn.take({ type: 'text-delta', turn: id, message: 'm', text: 'x'.repeat(length) })
    }
    const emit = (event: Told): void => void turn.take({ turn: id, ...event })
    return { turn, host, say, emit }
  }
  return { begin, turns, watch, close: () => watch.close() }
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

/** What an agent says besides the texts of its messages, with ten thousand characters each. */
const LONG = 'x'.repeat(10_000)
const PARTS = [{ type: 'text', text: LONG }] as const
const PASSING: readonly Told[] = [
  { type: 'terminal-output', stream: 'stdout', text: LONG },
  { type: 'tool-progress', tool: 'c', parts: PARTS },
  { type: 'plan', json: JSON.stringify(LONG) },
  { type: 'foreign', protocol: 'p', frame: LONG },
]
const KEPT: readonly Told[] = [
  { type: 'reasoning-delta', message: 'm', text: LONG },
  { type: 'notice', severity: 'info', code: 'n', text: LONG },
  { type: 'directive', action: 'a', json: JSON.stringify(LONG) },
  { type: 'tool-end', tool: 'c', status: 'ok', parts: PARTS },
]
const byType = (events: readonly Told[]) => events.map((event) => [event.type, event] as const)

/** What becomes of a turn in which an agent says something twenty times. */
async function saidOften(event: Told, route: Partial<Route> = {}): Promise<string | undefined> {
  const { begin, close } = talking(route)
  const { turn, emit } = await begin('t')
  for (let times = 0; times < 20; times += 1) emit(event)
  await settled()
  close()
  return becameOf(turn)
}

test.each(byType(PASSING))('what no view keeps does not count once it is recorded: %s', async (_, event) => {
  expect(await saidOften(event)).toBeUndefined()
})

test.each(byType(KEPT))('what a view keeps counts: %s', async (_, event) => {
  expect(await saidOften(event)).toBe('overloaded')
})

test.each(byType([...PASSING, ...KEPT]))('all counts where it is held and not recorded: %s', async (_, event) => {
  expect(await saidOften(event, { journal: 'shape' })).toBe('overloaded')
})

test.each(['began', 'goes on'])('a turn that %s without a record counts too', async (how) => {
  const { begin, watch, close } = talking()
  const fail = async (): Promise<void> => {
    watch.failed(storeFailure('full'))
    await settled()
  }
  if (how === 'began') await fail()
  const { turn, say, emit } = await begin('t')
  say(MOST / 2)
  if (how === 'goes on') await fail()
  expect(watch.keeps(turn)).toBe(false)
  for (let times = 0; times < 20; times += 1) emit({ type: 'terminal-output', stream: 'stdout', text: LONG })
  await settled()
  expect(becameOf(turn)).toBeUndefined()
  say(MOST / 2)
  await settled()
  expect(becameOf(turn)).toBe('overloaded')
  close()
})

test('turns that wait with little to hold are not in the way of each other', async () => {
  const { begin, turns, close } = talking()
  const idle = Math.floor(MOST / (4 * EVENT_SIZE + 100))
  for (let at = 0; at < idle; at += 1) await begin(`${at}`)
  await settled()
  expect(turns.size).toBe(idle)
  const large = await begin('large')
  large.say(MOST)
  await settled()
  expect([turns.size, becameOf(large.turn)]).toEqual([idle, 'overloaded'])
  close()
})

test('a turn that does not end at once is refused once for each look', async () => {
  const pages: Record<string, TurnPage> = {}
  const room = new Room(100, pages)
  const refused: string[] = []
  for (const name of ['small', 'large']) {
    const turn = { refuse: () => void refused.push(name) } as unknown as Turn
    pages[name] = { turn, unkept: undefined, held: 0 } as TurnPage
  }
  const event = { type: 'text-delta', turn: 't', message: 'm', text: '' } as const
  room.take(pages['small']!, event, 10)
  room.take(pages['large']!, event, 200)
  expect(refused).toEqual([])
  await settled()
  expect(refused).toEqual(['large', 'small'])
  room.take(pages['small']!, event, 1000)
  await settled()
  expect(refused).toEqual(['large', 'small', 'small', 'large'])
})
