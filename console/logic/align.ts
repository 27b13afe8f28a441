import type { Loss } from '../../src/model/index.ts'
import { isLostAt, isOfRequest } from './losses.ts'
import type { NumberedEvent, Wire, WireFrame } from './types.ts'

/** A line of the side by side view: events that belong together, and their frames on both wires. */
export interface Row {
  /** Empty for everything before the first event: the request. */
  events: NumberedEvent[]
  client: WireFrame[]
  agent: WireFrame[]
  losses: Loss[]
}

/**
 * The lines of a turn: first the request, then its events in order, pieces of one text together. Frames are at the line
 * of the event that they were written for or read as; one without a number follows the frame before it.
 */
export function align(events: readonly NumberedEvent[], wire: Wire | undefined, losses: readonly Loss[] = []): Row[] {
  const rows = [emptyRow(), ...grouped(events)]
  if (wire) {
    place(rows, 'client', wire.client)
    place(rows, 'agent', wire.agent)
  }
  for (const loss of losses) placeOf(rows, loss).losses.push(loss)
  return rows.filter((row) => row.events.length + row.client.length + row.agent.length + row.losses.length > 0)
}

function emptyRow(events: NumberedEvent[] = []): Row {
  return { events, client: [], agent: [], losses: [] }
}

function grouped(events: readonly NumberedEvent[]): Row[] {
  const rows: Row[] = []
  for (const event of events) {
    const last = rows.at(-1)
    if (last && continues(last.events.at(-1)!, event)) last.events.push(event)
    else rows.push(emptyRow([event]))
  }
  return rows
}

/** True for the next piece of the same text. */
function continues(before: NumberedEvent, event: NumberedEvent): boolean {
  if (before.type !== event.type) return false
  if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
    return 'message' in before && before.message === event.message
  }
  return event.type === 'tool-args-delta' && 'tool' in before && before.tool === event.tool
}

function place(rows: readonly Row[], side: 'client' | 'agent', frames: readonly WireFrame[]): void {
  let at = 0
  for (const frame of frames) {
    const { seq } = frame
    if (seq !== undefined) {
      const found = rows.findLastIndex(({ events: [first] }) => first !== undefined && first.seq <= seq)
      at = Math.max(0, found)
    }
    rows[at]![side].push(frame)
  }
}

/** The line at which something was lost: the request, the first event that fits, or the end. */
function placeOf(rows: readonly Row[], { item }: Loss): Row {
  if (isOfRequest(item)) return rows[0]!
  return rows.find(({ events }) => events.some((event) => isLostAt(item, event))) ?? rows.at(-1)!
}
