import type { Fault } from '../model/index.ts'
import type { Party } from './party.ts'

/** The source and target of a translation. */
export interface Translation {
  from: Party
  /** `canonical`: the model itself, as JSON lines. */
  to: Party | 'canonical'
  /** The translated side: the agent, or its client. */
  of: 'agent' | 'client'
  /** The arguments of the recorded program, when its recording does not have them. */
  argv?: readonly string[]
}

/** A wire whose gateway went away: open requests end with `fault`. */
export interface BrokenOff {
  fault: Fault
  /** The client has what was written until then; else it is part of what is still to be written. */
  written: boolean
  /** The time, in milliseconds since the epoch. */
  now: number
  /** The gateway's ids of the wire begin with it. */
  idPrefix: string
}
