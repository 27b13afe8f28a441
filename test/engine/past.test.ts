import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Store, TurnRecord } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { LAST_CALL_MS } from '../../src/engine/record/lease.ts'
import { showPast } from '../../src/engine/record/past.ts'
import type { SidedLoss, TurnEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { ANSWER, PlainHost, start } from '../kit/plain.ts'

const RECORD: TurnRecord = {
  turn: 't',
  session: 'kept',
  tenant: 'local',
  agent: 'plain',
  front: 'acp',
  owner: 'there',
  epoch: 1,
  startedAt: 40,
  delivered: false,
}
const ACCEPTED: TurnEvent = { type: 'turn-accepted', turn: 't', how: 'new', session: 's', request: 'r1' }
const BEGIN: TurnEvent = { type: 'message-start', turn: 't', message: 'm', role: 'assistant' }
const text = (said: string): TurnEvent => ({ type: 'text-delta', turn: 't', message: 'm', text: said })
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }

let store: Store
let now: number
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  now = 60
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
})

/** Records events of the turn, from a number on. */
const say = (seq: number, ...events: TurnEvent[]): unknown =>
  store.appendEvents([{ turn: 't', seq, lines: events.map((event) => JSON.stringify(event)).join('\n') }])

/** The turn is run by a process that renews its lease, or by one that is gone. */
async function begun(until = Number.MAX_SAFE_INTEGER): Promise<TurnRecord> {
  const record = { ...RECORD, epoch: await store.takeLease('there', 1, until) }
  await store.beginTurn(record)
  return record
}

/** An exchange that is shown the recorded turn, with the times and texts that its views had. */
function shown(record: TurnRecord, more: { after?: number; request?: string; follows?: boolean } = {}) {
  const host = new PlainHost()
  const views: unknown[] = []
  host.encode = function encode(this: PlainHost, event: TurnEvent, ...[, view]: unknown[]) {
    this.events.push(event)
    const { seq, at, text: all } = view as { seq: number; at: number; text: string }
    views.push([seq, at, all])
  }
  const exchange = new Exchange(start({ request: 'r2' }), ANSWER, host)
  if (more.follows) Object.defineProperty(exchange, 'follows', { value: true })
  const done = showPast(
    { store, now: () => now },
    { record, session: 's', after: more.after ?? 0, request: more.request },
    exchange,
  )
  return { host, exchange, done, views }
}

const END_OF: TurnRecord = { ...RECORD, endedAt: 50, outcome: 'completed' }

describe('a recorded turn', () => {
  test('is shown with its events, as the answer to this request', async () => {
    await begun()
    say(1, ACCEPTED, BEGIN, text('hi'), END)
    await store.endTurn({ ...END_OF, epoch: 1 })
    const { host, done, exchange } = shown(RECORD, { request: 'r2' })
    await done
    expect(host.events).toEqual([{ ...ACCEPTED, how: 'replayed', request: 'r2' }, BEGIN, text('hi'), END])
    expect([exchange.ended, exchange.past?.turn]).toEqual([true, 't'])
  })

  test('is shown from the event after the last one that was shown, without the text before it', async () => {
    await begun()
    say(1, ACCEPTED, BEGIN, text('one '), text('two'), END)
    await store.endTurn({ ...END_OF, epoch: 1 })
    const { host, done, views } = shown(RECORD, { after: 3 })
    await done
    expect(host.events).toEqual([text('two'), END])
    expect(views).toEqual([
      [4, 50, 'two'],
      [5, 50, 'two'],
    ])
  })

  test('has its losses once they are recorded', async () => {
    await begun()
    const losses: SidedLoss[] = [{ kind: 'dropped', item: 'plan', why: 'no-place', count: 2, side: 'client' }]
    say(1, ACCEPTED, END)
    await store.endTurn({ ...END_OF, epoch: 1, losses })
    const { done, exchange } = shown(RECORD)
    await done
    expect(exchange.past?.losses).toEqual(losses)
  })

  test('of which the shape alone is kept is no answer', async () => {
    await begun()
    say(1, ACCEPTED, END)
    const measures = { back: 'plain', timings: {}, shape: true as const }
    await store.endTurn({ ...END_OF, epoch: 1, measures })
    const { host, done } = shown(RECORD)
    await done
    expect([host.events, host.faults]).toEqual([
      [],
      [
        {
          code: 'invalid-request',
          message:
            'This request has been answered, and what was said is not kept; send it under a new key to have it done again.',
          retryable: false,
        },
      ],
    ])
    const following = shown(RECORD, { follows: true })
    await following.done
    expect(following.host.types).toEqual(['turn-accepted', 'turn-end'])
  })

  test('that failed with its shape alone is shown as it failed', async () => {
    await begun()
    say(1, ACCEPTED, { ...END, outcome: 'failed' })
    const measures = { back: 'plain', timings: {}, shape: true as const }
    await store.endTurn({ ...END_OF, outcome: 'failed', epoch: 1, measures })
    const { host, done } = shown(RECORD)
    await done
    expect(host.types).toEqual(['turn-accepted', 'turn-end'])
  })

  test('whose record has an end and no event of it is gone', async () => {
    await begun()
    say(1, ACCEPTED, BEGIN)
    await store.endTurn({ ...END_OF, epoch: 1 })
    const { host, done } = shown(RECORD)
    await done
    expect(host.faults).toMatchObject([
      { code: 'internal', message: 'The record of this turn is gone; send the request with a new key.' },
    ])
  })

  test('that is not there is gone', async () => {
    const { host, done } = shown(RECORD)
    await done
    expect([host.events, host.faults.map(({ code }) => code)]).toEqual([[], ['internal']])
  })
})

describe('a turn that another process runs', () => {
  test('is shown as it is recorded, ten times a second', async () => {
    const record = await begun()
    say(1, ACCEPTED)
    const { host, done } = shown(record)
    await vi.advanceTimersByTimeAsync(0)
    expect(host.types).toEqual(['turn-accepted'])
    say(2, BEGIN, text('a'))
    await vi.advanceTimersByTimeAsync(99)
    expect(host.types).toEqual(['turn-accepted'])
    await vi.advanceTimersByTimeAsync(1)
    expect(host.types).toEqual(['turn-accepted', 'message-start', 'text-delta'])
    say(4, END)
    // Its end is not shown before it is recorded as ended: its losses are.
    await vi.advanceTimersByTimeAsync(500)
    expect(host.types).toHaveLength(3)
    await store.endTurn({ ...record, endedAt: 50, outcome: 'completed' })
    await vi.advanceTimersByTimeAsync(100)
    await done
    expect(host.types.at(-1)).toBe('turn-end')
  })

  test('is ended when its process is gone, and its client gets that end', async () => {
    const record = await begun(50)
    say(1, ACCEPTED, BEGIN, text('half'))
    const { host, done, views } = shown(record)
    await vi.advanceTimersByTimeAsync(0)
    expect(host.types).toEqual(['turn-accepted', 'message-start', 'text-delta'])
    now += LAST_CALL_MS
    await vi.advanceTimersByTimeAsync(100)
    await done
    expect(host.types.slice(3)).toEqual(['message-end', 'turn-end'])
    expect(host.events.at(-1)).toMatchObject({ outcome: 'failed', fault: { code: 'internal' } })
    expect((views.at(-1) as [number, number])[1]).toBe(now)
  })

  test('is no more shown to a client that has left', async () => {
    const record = await begun()
    say(1, ACCEPTED)
    const { host, done, exchange } = shown(record)
    await vi.advanceTimersByTimeAsync(0)
    exchange.drop()
    say(2, BEGIN)
    await vi.advanceTimersByTimeAsync(100)
    await done
    expect(host.types).toEqual(['turn-accepted'])
  })

  test('is shown with the times of its record: its beginning, then now', async () => {
    const record = await begun()
    say(1, ACCEPTED, BEGIN)
    const { views, done, exchange } = shown(record)
    await vi.advanceTimersByTimeAsync(0)
    expect(views).toEqual([
      [1, 40, ''],
      [2, 60, ''],
    ])
    exchange.drop()
    await vi.advanceTimersByTimeAsync(100)
    await done
  })
})
