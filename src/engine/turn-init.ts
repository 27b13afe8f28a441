import type { TurnScope } from '../contract/index.ts'
import type { Command, LinkEvent, TurnEvent, TurnStart } from '../model/index.ts'
import type { Exchange } from './exchange.ts'
import type { AgentSettings, Limits, Route } from './settings.ts'
import type { Turn } from './turn.ts'

/** What a turn is made of. */
export interface TurnInit {
  command: Command & TurnStart
  agent: AgentSettings
  route: Route
  limits: Limits
  /** The session's id as the client knows it. */
  session: string
  exchange: Exchange
  scope: TurnScope
  owner: TurnOwner
}

/** What a turn tells the engine. */
export interface TurnOwner {
  now(): number
  /** An event was taken into the view: for the journal. */
  record(turn: Turn, event: TurnEvent): void
  /** An event without a turn came while it ran. */
  linkEvent(turn: Turn, event: LinkEvent): void
  /** It has its end. Called once, after every exchange got it. */
  ended(turn: Turn): void
  /** A fresh id for a session of the agent, remembered for later turns. */
  freshSession(turn: Turn): string
  /** It is to be cancelled while it still waits for its session. */
  abandon(turn: Turn): void
  /** A client holds the whole answer. */
  delivered(turn: Turn): void
}
