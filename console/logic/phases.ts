import type { TurnRow } from './types.ts'

/** One part of a turn's time. */
export interface Phase {
  name: 'queue' | 'start' | 'first event' | 'work'
  /** Milliseconds since the turn began, and the time that it took. */
  from: number
  ms: number
}

/** The time of a turn until now, in milliseconds. */
export function totalOf({ timings, startedAt, endedAt }: TurnRow, now: number): number {
  return timings?.total ?? Math.max(0, (endedAt ?? now) - startedAt)
}

/** The parts of a turn's time one after the other: in line, starting the agent, until its first event, and the rest. */
export function phasesOf(turn: TurnRow, now: number): Phase[] {
  const { queue = 0, agentStart = 0, firstEvent } = turn.timings ?? {}
  const total = totalOf(turn, now)
  const parts: Phase[] = []
  let from = 0
  const add = (name: Phase['name'], ms: number): void => {
    const fits = Math.min(ms, total - from)
    if (fits > 0) parts.push({ name, from, ms: fits })
    from += Math.max(0, fits)
  }
  add('queue', queue)
  add('start', agentStart)
  // Without a first event all of the time so far was spent waiting for it.
  if (firstEvent !== undefined) add('first event', firstEvent)
  else if (turn.state === 'running' && turn.phase !== 'queued') add('first event', total - from)
  add(turn.phase === 'queued' ? 'queue' : 'work', total - from)
  return parts
}

/** The time that fills a bar among these turns: a few much longer ones are cut, so that the others stay readable. */
export function fullBarOf(turns: readonly TurnRow[], now: number): number {
  const totals = turns.map((turn) => totalOf(turn, now)).sort((a, b) => a - b)
  return 1.25 * (totals[Math.floor((totals.length - 1) * 0.9)] ?? 0)
}
