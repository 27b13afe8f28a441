import type { SessionSettings } from '../../contract/index.ts'
import type { Message } from '../../model/index.ts'
import type { SessionNames } from '../common/index.ts'

/** The session of a turn, as its agent gets it. */
export interface AgentSession {
  names: SessionNames
  /** Its own id of it. */
  bound?: string
  /** Its own id of the session that this one is a copy of, which it copies for the turn. */
  origin?: string
  /** The transcript, for an agent that has lost it. */
  history?: readonly Message[]
  /** The agent knows the conversation before the turn. */
  remembers?: true
  /** The client's settings of it. */
  settings: SessionSettings
}
