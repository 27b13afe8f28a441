import type { EventOf, TurnEvent, TurnView } from '../model/index.ts'

/**
 * The function of a writer `W` for each type of event; null where nothing is written. A new type of event does not
 * compile until every table has it.
 */
export type EventTable<W> = {
  readonly [T in TurnEvent['type']]: ((writer: W, event: EventOf<T>, view: TurnView) => void) | null
}

/** The rows of an `EventTable` for types of events that are not written. */
export function unwritten<T extends TurnEvent['type']>(...types: readonly T[]): Readonly<Record<T, null>> {
  return Object.fromEntries(types.map((type) => [type, null])) as Record<T, null>
}

/** Writes an event by the table's function for its type. */
export function writeEvent<W>(table: EventTable<W>, writer: W, event: TurnEvent, view: TurnView): void {
  const write = table[event.type] as ((writer: W, event: TurnEvent, view: TurnView) => void) | null
  write?.(writer, event, view)
}
