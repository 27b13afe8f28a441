import type { EventOf, TurnEvent, TurnView } from '../model/index.ts'

/**
 * The function of a writer `W` for each type of event; null where nothing is written. A new type of event does not
 * compile until every table has it.
 */
export type EventTable<W> = {
  readonly [T in TurnEvent['type']]: ((writer: W, event: EventOf<T>, view: TurnView) => void) | null
}

/** Writes an event by the table's function for its type. */
export function writeEvent<W>(table: EventTable<W>, writer: W, event: TurnEvent, view: TurnView): void {
  const write = table[event.type] as ((writer: W, event: TurnEvent, view: TurnView) => void) | null
  write?.(writer, event, view)
}
