import type { Store, TurnRecord } from '../../contract/index.ts'
import type { Fault, Id, TurnEnd } from '../../model/index.ts'
import { LOST } from '../common/index.ts'
import { closingsOf, numbered } from '../events/index.ts'
import { LAST_CALL_MS } from './lease.ts'

/**
 * The distance of a lost turn's closing events from its last recorded one. Clients may have been shown events
 * that never got into the record, and a number that was shown is never another event. Fewer than this were: the journal
 * holds back at most a mebi of characters, and an event has more than one. A constant costs running turns nothing.
 */
export const UNRECORDED = 1_000_000_000

/** The number of lost turns that are ended together: a store on another machine does that in a few messages. */
const AT_ONCE = 50

/** Ends every turn whose process has ended. Resolves with their number. */
export async function recoverTurns(store: Store, now: number): Promise<number> {
  const lost = await store.lostTurns(now)
  let count = 0
  for (let at = 0; at < lost.length; at += AT_ONCE) {
    const ended = await Promise.all(lost.slice(at, at + AT_ONCE).map((record) => endIfLost(store, record, now)))
    count += ended.filter(Boolean).length
  }
  return count
}

/**
 * The record of a turn. If its process has ended the turn is ended first: nobody waits for it for ever, and its request
 * can run again, because later writes of its process do not count.
 */
export async function readTurn(store: Store, turn: Id, now: number): Promise<TurnRecord | undefined> {
  const record = await store.readTurn(turn)
  return record && (await endIfLost(store, record, now)) ? store.readTurn(turn) : record
}

/** Ends an unfinished turn whose process has ended; true when it did. */
export async function endIfLost(store: Store, record: TurnRecord, now: number): Promise<boolean> {
  if (record.outcome !== undefined || !(await store.lapseLease(record, now, LAST_CALL_MS))) return false
  await endLostTurn(store, record, now, LOST)
  return true
}

/** Ends one recorded turn that nobody runs any more, with its groups closed; one whose end was written keeps it. */
export async function endLostTurn(store: Store, record: TurnRecord, now: number, why: Fault): Promise<void> {
  const { turn } = record
  const entries = numbered(await store.readEvents(turn, 0), 0)
  const said = entries.map(({ event }) => event)
  // None for a turn that has its end among its events, and not yet in its record.
  const closings = closingsOf(turn, said, why)
  const seq = (entries.at(-1)?.seq ?? 0) + UNRECORDED
  const { outcome, fault: found } = (closings.at(-1) ?? said.at(-1)) as TurnEnd
  const lines = closings.map((event) => JSON.stringify(event)).join('\n')
  await store.endTurn(
    { ...record, endedAt: now, outcome, ...(found && { code: found.code }) },
    closings.length === 0 ? {} : { events: { turn, seq, lines } },
  )
}
