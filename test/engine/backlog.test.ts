import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Store, TurnRecord } from '../../src/contract/index.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import { Backlog } from '../../src/engine/record/backlog.ts'
import type { Lease } from '../../src/engine/record/lease.ts'
import { Marks } from '../../src/engine/record/marks.ts'
import { PageWriter } from '../../src/engine/record/page-writer.ts'
import type { StoreWatch } from '../../src/engine/record/store-watch.ts'
import { newPage, type TurnPage } from '../../src/engine/record/turn-page.ts'
import { WriteQueue } from '../../src/engine/record/write-queue.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { plainTurn, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] }))
afterEach(() => void vi.useRealTimers())

/** The longest time that an event waits, in milliseconds. */
const LONGEST_MS = 550

/** A backlog, and what its store was given: the turns that have begun, the events of each turn, the marks. */
function backlog() {
  const given = { begun: [] as string[], events: {} as Record<string, TurnEvent[]>, marks: [] as string[] }
  const store: Pick<Store, 'beginTurn' | 'appendEvents' | 'markDelivered' | 'touchSession'> = {
    beginTurn: ({ turn }) => given.begun.push(turn) > 0,
    appendEvents: (blocks) => {
      for (const block of blocks) {
        given.events[block.turn] ??= []
        given.events[block.turn]!.push(...numbered([block], 0).map(({ event }) => event))
      }
    },
    markDelivered: (turn) => void given.marks.push(turn),
    touchSession: (session) => void given.marks.push(session),
  }
  const writes = new WriteQueue((error) => {
    throw error
  })
  const watch = { writable: true, keeps: () => true } as Partial<StoreWatch> as StoreWatch
  const lease: Pick<Lease, 'hold'> = { hold: () => ({ owner: 'o', epoch: 1 }) }
  const marks = new Marks(store as Store, watch, writes)
  const it = new Backlog(new PageWriter(store as Store, writes, watch, lease as Lease), marks)
  /** A turn that begins: its page, and what it has said; `say` adds an event. */
  const open = (id: string) => {
    const { turn } = plainTurn({ command: start({ turn: id }) })
    const page: TurnPage = newPage(turn, { turn: id } as TurnRecord)
    const said: TurnEvent[] = []
    const say = (text = 'x'): void => {
      const event: TurnEvent = { type: 'text-delta', turn: id, message: 'm', text }
      said.push(event)
      turn.take(event)
      it.event(page, event)
    }
    return { id, page, said, say, written: () => given.events[id] ?? [] }
  }
  return { it, given, marks, open }
}

type Opened = ReturnType<ReturnType<typeof backlog>['open']>

const step = fc.record({
  does: fc.constantFrom('say', 'say', 'say', 'add', 'write', 'write all', 'remove', 'wait'),
  turn: fc.constantFrom('a', 'b', 'c', 'd'),
  ms: fc.integer({ min: 1, max: 300 }),
})

test('events are written once and in order, whatever waits with them and is removed meanwhile', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { it, given, open } = backlog()
      const live = new Map<string, Opened>()
      let opened = 0
      for (const { does, turn: name, ms } of steps) {
        const turn = live.get(name) ?? open(`${name}${opened++}`)
        live.set(name, turn)
        if (does === 'say') turn.say()
        else if (does === 'add') it.add(turn.page)
        else if (does === 'write') it.write(turn.page)
        else if (does === 'write all') it.writeAll()
        else if (does === 'wait') vi.advanceTimersByTime(ms)
        else {
          it.remove(turn.page)
          live.delete(name)
        }
        for (const { said, written } of live.values()) expect(written()).toEqual(said.slice(0, written().length))
        if (does === 'write') expect(turn.written()).toEqual(turn.said)
        if (does === 'write all') for (const { said, written } of live.values()) expect(written()).toEqual(said)
      }
      vi.advanceTimersByTime(LONGEST_MS)
      for (const { said, written } of live.values()) expect(written()).toEqual(said)
      expect(given.begun).toEqual([...new Set(given.begun)])
    }),
  )
})

test('an event is written half a second after the first that waits, or 200 ms after the beginning of its turn', () => {
  const { given, open } = backlog()
  const turn = open('t')
  turn.say()
  vi.advanceTimersByTime(199)
  expect([given.begun, turn.written()]).toEqual([[], []])
  vi.advanceTimersByTime(1)
  expect([given.begun, turn.written()]).toEqual([['t'], turn.said])
  vi.advanceTimersByTime(1000)
  turn.say()
  vi.advanceTimersByTime(300)
  turn.say()
  vi.advanceTimersByTime(199)
  expect(turn.written()).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(turn.written()).toEqual(turn.said)
})

test('everything is written when more than a million units wait, the event that is too much included', () => {
  const { it, open } = backlog()
  const [one, two, removed] = [open('one'), open('two'), open('removed')]
  one.say()
  removed.say('x'.repeat(600_000))
  it.remove(removed.page)
  two.say('x'.repeat(600_000))
  expect([one.written(), two.written()]).toEqual([[], []])
  open('three').say('x'.repeat(600_000))
  expect([one, two].map(({ written }) => written().length)).toEqual([1, 1])
  two.say('x'.repeat(1_048_577))
  expect(two.written()).toEqual(two.said)
  one.say()
  expect(one.written()).toHaveLength(1)
})

test('marks are written with the pages, and nothing is scheduled when nothing waits', () => {
  const { it, given, marks } = backlog()
  marks.delivered('t')
  marks.used('s', 1)
  it.schedule()
  vi.advanceTimersByTime(49)
  expect(given.marks).toEqual([])
  vi.advanceTimersByTime(1)
  expect([given.marks.splice(0), vi.getTimerCount()]).toEqual([['t', 's'], 0])
  marks.used('s', 2)
  it.writeAll()
  expect([given.marks, vi.getTimerCount()]).toEqual([['s'], 0])
})
