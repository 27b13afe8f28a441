import type { Id } from '../../../src/model/index.ts'
import type { Request } from './requests.ts'
import type { Session } from './session.ts'
import type { TurnWriter } from './turn.ts'

/** A prompt without an answer. */
export interface Work {
  readonly request: Request
  readonly session: Session
  readonly exchange: Id
  readonly turn: Id
  readonly writer: TurnWriter
  /** The turn that it got: its own, or one that it has joined. */
  runs: Id | undefined
  /** Another prompt of this connection shows the turn that it has joined. */
  muted: boolean
  /** The client has given it up. */
  cancelled: boolean
}
