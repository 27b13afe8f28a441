import type { JournalEntry } from '../../contract/index.ts'
import type { TurnEvent } from '../../model/index.ts'
import { acceptedTurn } from './turn-events.ts'
import type { LiveView } from './view.ts'

/** An event with its number within the turn. */
export interface Numbered {
  seq: number
  event: TurnEvent
}

/** A recorded event as it is shown to a further exchange: accepted under that exchange's own request. */
export function reissue(entry: JournalEntry, how: 'joined' | 'replayed', request: string | undefined): Numbered {
  const event = JSON.parse(entry.json) as TurnEvent
  const told = event.type === 'turn-accepted' ? acceptedTurn(event.turn, how, event.session, request) : event
  return { seq: entry.seq, event: told }
}

/** The view of a recorded turn up to event number `last`, taken into `view`. */
export function foldUpTo(view: LiveView, entries: readonly JournalEntry[], last: number): LiveView {
  for (const { seq, json } of entries) {
    if (seq <= last) view.apply(JSON.parse(json) as TurnEvent, view.startedAt, seq)
  }
  return view
}
