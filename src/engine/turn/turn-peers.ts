import type { Route, SessionRecord } from '../../contract/index.ts'
import type {
  Ask,
  Command,
  CommandOf,
  Ext,
  Fault,
  Id,
  Part,
  TextRun,
  TurnEvent,
  TurnSettings,
  TurnStart,
} from '../../model/index.ts'
import type { AgentLink, Breakers } from '../agent/index.ts'
import type { Exchange } from '../client/index.ts'
import type { AgentSettings, EngineLog } from '../common/index.ts'
import type { Numbered } from '../events/index.ts'
import type { AgentSession } from './agent-session.ts'
import type { TurnClock } from './turn-clock.ts'

/** The record of turns, as a turn `T` writes and reads it. */
export interface TurnRecorder<T> {
  /** An event was taken into the view: for the journal. */
  event(turn: T, event: TurnEvent): void
  /** The same for pieces of text. */
  texts(turn: T, run: TextRun): void
  /** Its client has sent more input, which its agent was given. */
  steered(turn: T, parts: readonly Part[]): void
  /** False when its end will not count, because this process has lost its lease and others may have ended the turn. */
  confirm(): boolean
  /** True while the record of the turn is complete. */
  keeps(turn: T): boolean
  /** Every event so far, in order. */
  events(turn: T): Promise<readonly Numbered[]>
  /** The turn has its end, and every exchange got it. */
  end(turn: T): void
  /** A client holds the whole answer. */
  delivered(turn: Id): void
}

/** The session that a turn `T` stands in. */
export interface TurnSession<T> {
  readonly record: SessionRecord
  /** `STALE` when the record has to be read again. */
  asOf: number | undefined
  /** Forgets a turn that waits for it. */
  abandon(turn: T): void
  /** Gives the agent's session a fresh id, remembered for later turns. */
  rebind(): string
  /**
   * The agent cannot go on with its id of the session: returns the session for another attempt, or the fault that
   * refuses the turn.
   */
  lost(turn: T): Promise<AgentSession | Fault>
}

/** The parts of the gateway that every turn `T` works with. */
export interface TurnPeers<T> {
  recorder: TurnRecorder<T>
  /** The agents that may be tried. */
  breakers: Breakers
  /** The turns that run or wait: one leaves them with its end. */
  turns: { delete(turn: T): void }
  /** Counts a turn that has its end. */
  figures: { ended(turn: T): void }
  /** Puts a turn in the line of its new agent. */
  failover: { move(turn: T): void }
  log: EngineLog
}

/** Parts of one turn `T`. */
export interface TurnInit<T> {
  command: Command & TurnStart
  route: Route
  /** The agent that takes it, then those that may when it cannot, in order. */
  agents: readonly AgentSettings[]
  session: TurnSession<T>
  exchange: Exchange
  scope: TurnClock
}

/** The run of a turn on its agents. */
export interface Runner {
  /** The questions of the agent, once it has asked any. */
  readonly questions: Questions | undefined
  /** Runs the turn; resolves when the agent is done with it. */
  on(link: AgentLink, session: AgentSession): Promise<boolean>
  /** The reason why the agent gets no such input of a client now; undefined: it does. */
  inputRefusal(input: readonly Part[]): Fault | undefined
  /** Gives the agent input of a client, or the reason why not. */
  tell(said: { exchange: Id; input: readonly Part[] }): Fault | undefined
  /** Ends the turn from outside, or has another agent take it. */
  fail(why: Fault): void
  /** Ends the turn because its time is out: its answer is what the agent has said of it, if that is a whole one. */
  expire(why: Fault): void
  /** The turn must not run: ends it from outside, and no other agent takes it. */
  refuse(why: Fault): void
  /** True for a turn that was refused: its end says nothing of its agent. */
  readonly refused: boolean
}

/** A turn that waits for a client's next request: by which token, since which event, with which questions. */
export interface Park {
  continuation: string
  seq: number
  asks: readonly Ask[]
}

/** Outcome of an answer: it was taken, nothing waits for it, or it does not answer this question, which stays open. */
export type AskAnswered = 'taken' | 'gone' | { mismatch: string }

/** The questions of a turn, as its clients and its end see them. */
export interface Questions {
  /** One of them is open. */
  readonly waiting: boolean
  /** The park that the turn is in. */
  readonly parked: Park | undefined
  /** The options and tools that the agent works with. */
  readonly settings: TurnSettings
  /** A client's request has others: `carried` are those for the agent, which gets them with the next answer. */
  change(settings: TurnSettings, carried: TurnSettings): void
  /** A client answers; `by` names it for the record, `echo` is what later answers repeat of its request. */
  answer(command: CommandOf<'ask-reply'>, by: string, echo?: Ext): AskAnswered
  /** A client has left. */
  left(): void
  /** The input of a client has ended: the policy answers the questions that nobody can answer any more. */
  onInputClosed(): void
  /** Closes those that are open. */
  cancel(): void
}
