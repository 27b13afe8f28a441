import type { Store } from '../contract/index.ts'
import { type Fault, fault, type Id, type TurnEvent } from '../model/index.ts'
import { ownerAlive } from './owner.ts'
import { failedTurn } from './turn-events.ts'

/** Why a turn has failed whose gateway is gone. */
export const LOST: Fault = fault(
  'internal',
  'The gateway was stopped before the turn had ended; send the request again.',
)

/** Gives an honest ending to every turn whose process is gone. Resolves with how many there were. */
export async function recoverTurns(store: Store, now: number): Promise<number> {
  const lost = (await store.unfinishedTurns()).filter(({ owner }) => !ownerAlive(owner))
  for (const { turn } of lost) await endLostTurn(store, turn, now, LOST)
  return lost.length
}

/** Ends one turn that nobody runs any more, in its journal and in its record; one whose end was written keeps it. */
export async function endLostTurn(store: Store, turn: Id, now: number, why: Fault): Promise<void> {
  const last = (await store.readEvents(turn, 0)).at(-1)
  const said = last && (JSON.parse(last.json) as TurnEvent)
  const end = said?.type === 'turn-end' ? said : failedTurn(turn, why)
  if (end !== said) await store.appendEvents([{ turn, seq: (last?.seq ?? 0) + 1, json: JSON.stringify(end) }])
  await store.endTurn(turn, { endedAt: now, outcome: end.outcome, ...(end.fault && { code: end.fault.code }) })
}
