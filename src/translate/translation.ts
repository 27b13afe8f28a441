import type { Fault, Id } from '../model/index.ts'
import type { Party } from './party.ts'

/** What is translated into what. */
export interface Translation {
  from: Party
  /** `canonical`: the model itself, as JSON lines. */
  to: Party | 'canonical'
  /** Whose words are translated: the agent's, or with `client` what its client wrote. */
  of: 'agent' | 'client'
  /** The arguments of the recorded program, where its recording does not have them. */
  argv?: readonly string[]
}

/** A wire whose gateway went away in the middle of it: what is open ends with `fault`. */
export interface BrokenOff {
  fault: Fault
  /** The client has what was written until then; else it is part of what is still to be written. */
  written: boolean
  /** The time, in milliseconds since the epoch. */
  now: number
  /** Gives the ids that the gateway gave, in their order. */
  newId: () => Id
}
