import type { Store } from '../../contract/index.ts'
import { type Fault, fault, type Id, type TurnEnd, type TurnEvent } from '../../model/index.ts'
import { closingsOf } from '../events/index.ts'
import { ownerAlive } from './owner.ts'

/** The fault of a turn whose gateway is gone. */
export const LOST: Fault = fault(
  'internal',
  'The gateway was stopped before the turn had ended; send the request again.',
)

/**
 * The distance of a lost turn's closing events from its last recorded one. Clients may have been shown events
 * that never got into the record, and a number that was shown is never another event. Fewer than this were: the journal
 * holds back at most a mebi of characters, and an event has more than one. A constant costs running turns nothing.
 */
export const UNRECORDED = 1_000_000_000

/** Gives an honest ending to every turn whose process is gone. Resolves with how many there were. */
export async function recoverTurns(store: Store, now: number): Promise<number> {
  const lost = (await store.unfinishedTurns()).filter(({ owner }) => !ownerAlive(owner))
  for (const { turn } of lost) await endLostTurn(store, turn, now, LOST)
  return lost.length
}

/** Ends one turn that nobody runs any more, in its journal and in its record; one whose end was written keeps it. */
export async function endLostTurn(store: Store, turn: Id, now: number, why: Fault): Promise<void> {
  const entries = await store.readEvents(turn, 0)
  const said = entries.map(({ json }) => JSON.parse(json) as TurnEvent)
  const closings = said.at(-1)?.type === 'turn-end' ? [] : closingsOf(turn, said, why)
  const first = (entries.at(-1)?.seq ?? 0) + UNRECORDED
  await store.appendEvents(closings.map((event, at) => ({ turn, seq: first + at, json: JSON.stringify(event) })))
  const end = (closings.at(-1) ?? said.at(-1)) as TurnEnd
  await store.endTurn(turn, { endedAt: now, outcome: end.outcome, ...(end.fault && { code: end.fault.code }) })
}
