import type { JournalEntry, Limits, Route, SessionSettings } from '../../contract/index.ts'
import type { Command, Fault, Id, LinkEvent, Message, TurnEvent, TurnStart } from '../../model/index.ts'
import type { Exchange } from '../client/index.ts'
import type { AgentSettings, SessionNames } from '../common/index.ts'
import type { Turn } from './turn.ts'
import type { AskAudit } from './turn-asks.ts'
import type { TurnClock } from './turn-clock.ts'

/** What a turn is made of. */
export interface TurnInit {
  command: Command & TurnStart
  agent: AgentSettings
  /** The agents that may take it when the first one cannot, in order. */
  others: readonly AgentSettings[]
  route: Route
  /** The session's id as the client knows it. */
  session: string
  exchange: Exchange
  scope: TurnClock
  owner: TurnOwner
}

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

/** What a turn tells the engine. */
export interface TurnOwner {
  now(): number
  /** An event was taken into the view: for the journal. */
  record(turn: Turn, event: TurnEvent): void
  /** Whether its record is complete so far. */
  keeps(turn: Turn): boolean
  /** Every event so far, in order. */
  recorded(turn: Turn): Promise<readonly JournalEntry[]>
  /** An event without a turn came while it ran. */
  linkEvent(turn: Turn, event: LinkEvent): void
  /** It has its end. Called once, after every exchange got it. */
  ended(turn: Turn): void
  /** A fresh id for a session of the agent, remembered for later turns. */
  freshSession(turn: Turn): string
  /** It is to be cancelled while it still waits for its session. */
  abandon(turn: Turn): void
  /** A client holds the whole answer. */
  delivered(turn: Id): void
  /** A question of its agent has its answer. */
  audit(turn: Turn, entry: AskAudit): void
  /** The first of these agents that may be tried now. */
  usable(agents: readonly AgentSettings[]): AgentSettings | undefined
  /** An agent that was to be tried is not. */
  spare(agent: AgentSettings): void
  /** An agent failed without ending the turn. */
  failed(agent: AgentSettings, fault: Fault): void
  /** It waits for its new agent. */
  moved(turn: Turn): void
}

/** The limits of a turn: those of its agent, with its route's laid over them. */
export function limitsOf(agent: AgentSettings, route: Route): Limits {
  return { ...agent.limits, ...route.limits }
}

/** The client's id of the request that an exchange has joined with. */
export function joinedAs({ command }: Exchange): string | undefined {
  return command.type === 'turn-start' ? command.request : undefined
}
