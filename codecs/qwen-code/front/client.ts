import type { FrontPorts } from '../../../src/contract/index.ts'
import type { Fault, Id, Loss, Usage } from '../../../src/model/index.ts'
import type { Arguments, Mode } from './flags.ts'
import type { Ids } from './ids.ts'

/** A tool that was refused, as a result lists it. */
export interface Refused {
  name: string
  id: Id
  args: string
}

/** Settings of a client for its session. */
interface Settings {
  /** It sent `initialize`, so it answers questions. */
  initialized: boolean
  model?: string
  effort?: string
  mode: Mode
  /** The settings that have no answer yet: a message after one must have it. */
  readonly changing: Set<Id>
  /** The reason why no turn may run: the arguments ask for a mode that the agent does not apply. */
  refusal?: Fault | undefined
}

/** Sums over the turns of a client so far. */
interface Totals {
  /** The model that the agent has named. */
  model?: string
  /** Tokens; undefined while none is known. */
  usage?: Usage
  readonly refused: Refused[]
  /** The losses of requests outside of turns; they are reported with the next turn. */
  readonly losses: Loss[]
}

/** The state of one client over all its turns. */
export interface Client {
  readonly ports: FrontPorts
  readonly args: Arguments
  readonly session: string
  readonly ids: Ids
  readonly settings: Settings
  readonly totals: Totals
}

/** The model for a client; empty when none is known. */
export function modelOf({ totals, settings }: Client): string {
  return totals.model ?? settings.model ?? ''
}
