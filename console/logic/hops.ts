import { phasesOf, totalOf } from './phases.ts'
import type { NumberedEvent, TurnRow, Wire } from './types.ts'

/** A bar of the waterfall: what took how long, in milliseconds since the turn began. */
export interface Hop {
  name: string
  kind: 'queue' | 'start' | 'first event' | 'work' | 'tool' | 'ask'
  from: number
  to: number
  /** Only the order of events is known here, not their time. */
  guessed?: true
}

/** The time of each event by its number, in milliseconds since the epoch, as far as it is known. */
export type Times = ReadonlyMap<number, number>

/** The times of events by the agent's wire. `seen` has those at which this page saw the others. */
export function timesOf(wire: Wire | undefined, seen: Times): Times {
  const times = new Map(seen)
  for (const { seq, at } of wire?.agent ?? []) if (seq !== undefined && at !== undefined) times.set(seq, at)
  return times
}

/** The bars of a turn: its phases, then the tools and questions within its work. */
export function hopsOf(turn: TurnRow, events: readonly NumberedEvent[], times: Times, now: number): Hop[] {
  const phases = phasesOf(turn, now).map(({ name, from, ms }): Hop => ({ name, kind: name, from, to: from + ms }))
  const total = totalOf(turn, now)
  const place = placing(turn, events, times, phases.find(({ kind }) => kind === 'work')?.from ?? 0, total)
  const opened = new Map<string, { name: string; kind: 'tool' | 'ask'; seq: number }>()
  const inner: Hop[] = []
  const close = (id: string, seq: number | undefined): void => {
    const open = opened.get(id)
    opened.delete(id)
    if (!open) return
    const [from, to] = [place(open.seq), seq === undefined ? { at: total } : place(seq)]
    const guessed = from.guessed || to.guessed
    inner.push({
      name: open.name,
      kind: open.kind,
      from: from.at,
      to: Math.max(from.at, to.at),
      ...(guessed && { guessed }),
    })
  }
  for (const event of events) {
    if (event.type === 'tool-start')
      opened.set(`tool ${event.tool}`, { name: event.name, kind: 'tool', seq: event.seq })
    else if (event.type === 'ask')
      opened.set(`ask ${event.ask}`, { name: `asks: ${event.question.kind}`, kind: 'ask', seq: event.seq })
    else if (event.type === 'tool-end') close(`tool ${event.tool}`, event.seq)
    else if (event.type === 'ask-settled') close(`ask ${event.ask}`, event.seq)
  }
  for (const id of [...opened.keys()]) close(id, undefined)
  return [...phases, ...inner.sort((a, b) => a.from - b.from)]
}

/** Places events on the time line: by their time, else by their order between the first one and the end. */
function placing(turn: TurnRow, events: readonly NumberedEvent[], times: Times, from: number, to: number) {
  const [first, last] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? 1]
  return (seq: number): { at: number; guessed?: true } => {
    const time = times.get(seq)
    if (time !== undefined) return { at: Math.min(to, Math.max(0, time - turn.startedAt)) }
    return { at: from + ((to - from) * (seq - first)) / Math.max(1, last - first), guessed: true }
  }
}
