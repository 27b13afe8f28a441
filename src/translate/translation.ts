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
