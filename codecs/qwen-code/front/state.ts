import type { Fault, Id, Loss, Usage } from '../../../src/model/index.ts'
import type { Arguments, Mode } from './args.ts'
import type { Ids } from './ids.ts'

/** The version of the CLI whose behaviour is stood in for. */
export const VERSION = '0.24.4+turnpike'

/** A tool that was refused, as a result lists it. */
export interface Refused {
  name: string
  id: Id
  args: string
}

/** The state of one client over all its turns. */
export interface ClientState {
  readonly args: Arguments
  readonly session: string
  readonly ids: Ids
  /** It said `initialize`, so it answers what it is asked. */
  initialized: boolean
  model: string | undefined
  effort: string | undefined
  mode: Mode
  /** The reason why no turn may run: the arguments ask for a mode that the agent does not apply. */
  refusal: Fault | undefined
  /** The model that the agent said it uses. */
  agentModel: string | undefined
  /** Tokens of all turns so far; undefined while none is known. */
  usage: Usage | undefined
  readonly refused: Refused[]
  /** The losses of requests outside of turns; they are reported with the next turn. */
  readonly losses: Loss[]
}
