import type { EventBlock } from '../../contract/index.ts'
import type { TurnEvent } from '../../model/index.ts'
import { eventsOf } from './event-lines.ts'
import { acceptedTurn } from './turn-events.ts'
import type { LiveView } from './view.ts'

/** An event with its number within the turn. */
export interface Numbered {
  seq: number
  event: TurnEvent
}

/** The events after number `after` in the blocks of a turn, which come in order. A repeated number is skipped. */
export function numbered(blocks: readonly EventBlock[], after: number): Numbered[] {
  const events: Numbered[] = []
  let last = after
  for (const { turn, seq: first, lines } of blocks) {
    let seq = first
    for (const event of lines.split('\n').flatMap((line) => eventsOf(turn, line))) {
      if (seq > last) {
        events.push({ seq, event })
        last = seq
      }
      seq += 1
    }
  }
  return events
}

/** A recorded event as it is shown to a further exchange: accepted under that exchange's own request. */
export function reissue(entry: Numbered, how: 'joined' | 'replayed', request: string | undefined): Numbered {
  const { seq, event } = entry
  if (event.type !== 'turn-accepted') return entry
  return { seq, event: acceptedTurn(event.turn, how, event.session, request, event.ext) }
}

/** The view of a recorded turn up to event number `last`, taken into `view`. */
export function foldUpTo(view: LiveView, entries: readonly Numbered[], last: number): LiveView {
  for (const { seq, event } of entries) {
    if (seq <= last) view.apply(event, view.startedAt, seq)
  }
  return view
}
