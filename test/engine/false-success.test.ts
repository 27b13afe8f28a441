/**
 * Every order in which replicas' store fails, a lease is lost, and others end a turn whose agent ends it with a success:
 * no client hears a success that the record does not have.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { recoverTurns } from '../../src/engine/record/recovery.ts'
import { tellUnrecorded } from '../../src/engine/record/store-watch.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainTurn, start } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'hrtime'] })
})
afterEach(() => void vi.useRealTimers())

/** What becomes of writes: done, not done, or done although their connection is lost before the answer. */
const STORES = ['there', 'away', 'unknown'] as const
type StoreState = (typeof STORES)[number]

/** The store from the beginning of the turn (`before`: away already), during it, and at its end. */
interface Order {
  begin: StoreState | 'before'
  during: StoreState
  end: StoreState
  /** The lease is renewed, expires just before the end, or was lost earlier. */
  lease: 'kept' | 'expires' | 'lost'
  /** Other replicas end the turn before this one does. */
  others: boolean
  /** The request has an idempotency key. */
  keyed: boolean
}

const MESSAGE: TurnEvent[] = [
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'hello' },
]
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }
const LEASE_MS = { kept: 0, expires: 7000, lost: 9000 }
/** When others find the lease expired, and when its last call is over. */
const EXPIRED = [100_000, 200_000]

/** A store on another machine, of which the writes fail as `state` says. */
function remote(real: Store, state: { now: StoreState }): Store {
  return new Proxy(real, {
    has: (of, name) => name === 'replicas' || name in of,
    get(of, name: string) {
      const method = (of as unknown as Record<string, (...args: unknown[]) => unknown>)[name]
      if (!method || name === 'version') return undefined
      const isWrite = !/^(read|find|list|unfinished|has|commit|close)/.test(name)
      return async (...args: unknown[]) => {
        const fails = isWrite && state.now
        if (fails === 'away') throw storeFailure('away')
        const done = await method.apply(of, args)
        if (fails === 'unknown') throw storeFailure('connection lost')
        return done
      }
    },
  })
}

/** Plays an order to its end: what the client heard (`nothing`: it was cut), and what the record says in the end. */
async function play(order: Order): Promise<{ heard: string; told: boolean; recorded: string }> {
  const real = openStore({ kind: 'sqlite', path: ':memory:' })
  const state: { now: StoreState } = { now: 'there' }
  const { turns, recorder, watch, lease } = engineParts(remote(real, state), settingsOf([]))
  const endLost = async (): Promise<void> => {
    for (const now of EXPIRED) await recoverTurns(real, now)
  }
  await real.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
  await lease.serve('a')
  const command = start(order.keyed ? { once: { key: 'k' } as never } : {})
  const { turn, host } = plainTurn({ command, peers: { recorder, turns } })
  state.now = order.begin === 'before' ? 'away' : order.begin
  if (order.begin === 'before') {
    watch.failed(storeFailure('away'))
    // It is tried again before it counts as away.
    await vi.advanceTimersByTimeAsync(0)
  }
  turns.add(turn)
  watch.began(turn, order.keyed)
  await recorder.begin(turn, { tenant: 'local', front: 'plain', promised: true })
  // The end of the tick, which is when its beginning counts as written.
  await new Promise(setImmediate)
  const take = (...events: TurnEvent[]): void => {
    for (const event of events) if (!turn.ended) turn.take(event)
  }
  if (!turn.ended) turn.accept()
  if (!turn.ended && !watch.keeps(turn)) tellUnrecorded(turn)
  state.now = order.during
  take(...MESSAGE)
  await recorder.flush()
  if (order.lease !== 'kept') state.now = 'away'
  await vi.advanceTimersByTimeAsync(LEASE_MS[order.lease])
  if (order.others) await endLost()
  state.now = order.end
  take(END)
  await recorder.commit()
  const heard = host.client.refused
    ? 'nothing'
    : host.events.flatMap((event) => (event.type === 'turn-end' ? event.outcome : []))
  const told = host.events.some((event) => event.type === 'notice' && event.code === 'unrecorded')
  state.now = 'there'
  await vi.advanceTimersByTimeAsync(1100)
  await endLost()
  const record = await real.readTurn('t')
  watch.close()
  await lease.drop()
  await real.close()
  return { heard: String(heard), told, recorded: record ? String(record.outcome) : 'none' }
}

const ORDERS = (['before', ...STORES] as const).flatMap((begin) =>
  STORES.flatMap((during) =>
    STORES.flatMap((end) =>
      (['kept', 'expires', 'lost'] as const).flatMap((lease) =>
        [false, true].flatMap((others) =>
          // A request with a key does not begin while the store is known to be away.
          (begin === 'before' ? [false] : [false, true]).map(
            (keyed): Order => ({ begin, during, end, lease, others, keyed }),
          ),
        ),
      ),
    ),
  ),
)

test('no order lets a client hear a success that the record does not have', async () => {
  const wrong: unknown[] = []
  for (const order of ORDERS) {
    const { heard, told, recorded } = await play(order)
    const fits = heard !== 'completed' || recorded === 'completed' || (recorded === 'none' && told && !order.keyed)
    if (!fits || recorded === 'undefined') wrong.push({ ...order, heard, told, recorded })
  }
  expect(wrong).toEqual([])
})

const USUAL: Order = { begin: 'there', during: 'there', end: 'there', lease: 'kept', others: false, keyed: true }

test.each<[string, Partial<Order>, heard: string, recorded: string]>([
  ['nothing fails', {}, 'completed', 'completed'],
  ['its end is not written', { end: 'away' }, 'nothing', 'failed'],
  ['its end is written and the answer lost', { end: 'unknown' }, 'nothing', 'completed'],
  ['its events are not written', { during: 'away' }, 'failed', 'failed'],
  ['its events are written and the answer lost', { during: 'unknown' }, 'failed', 'failed'],
  ['its beginning is not written', { begin: 'away' }, 'failed', 'none'],
  ['its beginning is not written, and it has no key', { begin: 'away', keyed: false }, 'failed', 'none'],
  ['its beginning is written and the answer lost', { begin: 'unknown', keyed: false }, 'failed', 'failed'],
  ['it began when nothing could be written', { begin: 'before', keyed: false }, 'completed', 'none'],
  ['its lease expires, and it ends first', { lease: 'expires' }, 'failed', 'failed'],
  ['its lease was lost', { lease: 'lost' }, 'failed', 'failed'],
  ['others have ended it', { others: true }, 'nothing', 'failed'],
  ['others have ended it, and the store is away', { others: true, end: 'away' }, 'nothing', 'failed'],
])('when %s', async (_when, order, heard, recorded) => {
  expect(await play({ ...USUAL, ...order })).toMatchObject({ heard, recorded })
})

/** One write of the turn `t` fails, and nothing else does. */
const OWN: [write: string, heard: string, recorded: string][] = [
  ['beginTurn', 'failed', 'none'],
  ['appendEvents', 'failed', 'failed'],
  ['endTurn', 'nothing', 'failed'],
]

test.each(OWN)('a failed %s of one turn ends that one, and no other', async (write, heard, recorded) => {
  let left = 1
  const isFirst = (name: string, about: string): boolean => name === write && about.includes('"turn":"t"') && left-- > 0
  const { real, parts, play, close } = await pair(isFirst)
  const [own, other] = await Promise.all([play('t'), play('u')])
  await vi.advanceTimersByTimeAsync(1100)
  const outcome = async (turn: string): Promise<string> => (await real.readTurn(turn))?.outcome ?? 'none'
  expect([own, await outcome('t')]).toEqual([heard, recorded])
  expect([other, await outcome('u')]).toEqual(['completed', 'completed'])
  expect([parts.watch.writable, parts.watch.failures]).toEqual([true, 1])
  await close()
})

test('a turn whose events fail while its end is written has no success', async () => {
  const { promise: failing, reject: fail } = Promise.withResolvers<void>()
  const { real, parts, begin, close } = await pair(
    (name) => name === 'appendEvents',
    () => failing,
  )
  const { turn, host } = await begin('t')
  for (const event of MESSAGE) turn.take(event)
  const flushed = parts.recorder.flush()
  turn.take(END)
  fail(storeFailure('too late'))
  await flushed
  await parts.recorder.commit()
  await vi.advanceTimersByTimeAsync(1100)
  expect([host.client.refused, (await real.readTurn('t'))?.outcome]).toEqual([true, 'failed'])
  await close()
})

/** Two sessions on a store that replicas share, of which those writes fail for which `fails` is true, as `how` rejects. */
async function pair(
  fails: (write: string, about: string) => boolean,
  how = (): Promise<void> => Promise.reject(storeFailure('refused')),
) {
  const real = openStore({ kind: 'sqlite', path: ':memory:' })
  const store = new Proxy(real, {
    has: (of, name) => name === 'replicas' || name in of,
    get(of, name: string) {
      const method = (of as unknown as Record<string, (...args: unknown[]) => unknown>)[name]
      if (!method || name === 'version') return undefined
      return async (...args: unknown[]) => (fails(name, JSON.stringify(args)) ? how() : method.apply(of, args))
    },
  })
  const parts = engineParts(store, settingsOf([]))
  const { turns, recorder, watch, lease } = parts
  for (const id of ['t', 'u'])
    await real.openSession({ tenant: 'local', agent: 'plain', session: id, conversation: '' }, `of-${id}`, 1)
  await lease.serve('a')
  const begin = async (id: string) => {
    const record = (await real.readSession(`of-${id}`))!
    const { turn, host } = plainTurn({
      command: { ...start(), turn: id },
      session: { record },
      peers: { recorder, turns },
    })
    turns.add(turn)
    watch.began(turn, true)
    await recorder.begin(turn, { tenant: 'local', front: 'plain', promised: true })
    await vi.advanceTimersByTimeAsync(0)
    if (!turn.ended) turn.accept()
    return { turn, host }
  }
  /** Plays a turn to its end: what its client heard. */
  const play = async (id: string): Promise<string> => {
    const { turn, host } = await begin(id)
    const take = (event: TurnEvent): void => void (!turn.ended && turn.take({ ...event, turn: id } as TurnEvent))
    for (const event of MESSAGE) take(event)
    await recorder.flush()
    await vi.advanceTimersByTimeAsync(0)
    take(END)
    await recorder.commit()
    if (host.client.refused) return 'nothing'
    return String(host.events.flatMap((event) => (event.type === 'turn-end' ? event.outcome : [])))
  }
  const close = async (): Promise<void> => {
    watch.close()
    await lease.drop()
    await real.close()
  }
  return { real, parts, begin, play, close }
}
