import type { SessionRecord } from '../../contract/index.ts'
import type { Id, Message } from '../../model/index.ts'
import type { CopyRecorder } from './session-copy.ts'

/** The record of sessions, as a live session writes and reads it. */
export interface SessionRecorder extends CopyRecorder {
  /** Stores the agent's own id of the session. */
  bind(record: SessionRecord): void
  /** The transcript so far. */
  transcript(session: Id): Promise<readonly Message[]>
  /** Adds text that the agent said between two turns; `at` is milliseconds since the epoch. */
  unasked(session: SessionRecord, text: string, at: number): void
}

/**
 * The messages that an agent gets before a turn: `own` are those of its session, `others` those of other agents'. With
 * `whole` all of them in the order of their times, else those that came after the last that the agent has heard.
 */
export function missed(own: readonly Message[], others: readonly Message[], whole: boolean): readonly Message[] {
  if (whole) return [...own, ...others].sort((one, other) => timeOf(one) - timeOf(other))
  const heard = own.reduce((latest, message) => Math.max(latest, timeOf(message)), 0)
  return others.filter((message) => timeOf(message) > heard)
}

function timeOf({ at = 0 }: Message): number {
  return at
}
