import type { SessionSettings } from '../../contract/index.ts'
import type { Fault, Message } from '../../model/index.ts'
import type { SessionNames } from '../common/index.ts'

/** What the agent is to know of the session that a turn belongs to. */
export interface AgentSession {
  names: SessionNames
  /** Its own id of it. */
  bound?: string
  /** What was said, when it has lost that. */
  history?: readonly Message[]
  /** What the client has set for it. */
  settings: SessionSettings
  /** The agent says that it cannot go on with `bound`: what it is to know then, or why the turn is refused. */
  lost(): Promise<AgentSession | Fault>
}
