import type { Ask } from './asks.ts'
import type { Fault } from './errors.ts'
import type { JsonText } from './json.ts'
import type { Citation, Ext, Id, Part, Seal, Usage } from './parts.ts'
import type { Executor, Role, Stop, ToolStatus } from './words.ts'

/** The members of every event of a turn. `lane` names the sub-agent that it came from; absent means the main agent. */
interface OfTurn {
  turn: Id
  lane?: string
  ext?: Ext
}

/** The end of a turn: exactly one, always last. An error that ends the turn is only here. */
export type TurnEnd = OfTurn & {
  type: 'turn-end'
  outcome: 'completed' | 'failed' | 'cancelled'
  stop?: Stop
  fault?: Fault
  continuation?: string
  summary?: string
}

/** Events that may belong to a turn or to the link. */
type Shared =
  | { type: 'notice'; severity: 'info' | 'warning' | 'error'; code: string; text: string }
  | ({ type: 'ask' } & Ask)
  /**
   * `by`: who answered, `client NAME OF ITS KEY`, `policy` or `agent`. `option`: the client's choice in an approval.
   */
  | { type: 'ask-settled'; ask: Id; how: 'answered' | 'timeout' | 'cancelled'; by?: string; option?: string }
  | { type: 'foreign'; protocol: string; frame: string }

/** A capability that the client asked for and does not get, with the reason. */
export interface Denial {
  capability: string
  code: string
}

/** The events that only the engine sends: the turn is accepted, or waits for the client's next request. */
type EngineEvent =
  | {
      type: 'turn-accepted'
      how: 'new' | 'joined' | 'replayed'
      session: string
      request?: string
      denials?: readonly Denial[]
    }
  | { type: 'turn-parked'; asks: readonly Ask[]; continuation: string; deadline: number }

/** An event of a turn, from an agent to a client. */
export type TurnEvent =
  | TurnEnd
  | (OfTurn &
      (
        | Shared
        | EngineEvent
        | { type: 'turn-started' }
        | { type: 'step-start'; step: number }
        | { type: 'step-end'; step: number; stop: Stop }
        /** `refusal`: the model says why it does not answer. */
        | { type: 'message-start'; message: Id; role: Role; phase?: 'commentary' | 'final' | 'refusal' }
        | { type: 'text-delta'; message: Id; text: string }
        | { type: 'reasoning-delta'; message: Id; text: string }
        /** A block of reasoning is complete; without deltas before it, only its seal is known. `message-end` repeats seals. */
        | { type: 'reasoning-end'; message: Id; seal?: Seal }
        /** A source of the text of a message, at its place in that. `message-end` repeats those of its text. */
        | ({ type: 'citation'; message: Id } & Citation)
        /** `parts` only when the agent sent the whole message; fronts that showed its deltas ignore them. */
        /** `revised`: its text differs from its deltas, which the agent's protocol allows. */
        | { type: 'message-end'; message: Id; parts?: readonly Part[]; revised?: true }
        | { type: 'message-retract'; message: Id; keepText: boolean }
        | {
            type: 'tool-start'
            tool: Id
            message?: Id
            name: string
            kind?: string
            title?: string
            executor: Executor
          }
        | { type: 'tool-args-delta'; tool: Id; text: string }
        | { type: 'tool-call'; tool: Id; name: string; args: JsonText; executor: Executor }
        | { type: 'tool-progress'; tool: Id; parts: readonly Part[] }
        | { type: 'tool-end'; tool: Id; status: ToolStatus; parts: readonly Part[] }
        | { type: 'terminal-output'; stream: 'stdout' | 'stderr'; text: string }
        | { type: 'directive'; action: string; json: JsonText }
        | { type: 'plan'; json: JsonText }
        /** `turn` is the total of the turn (at most one); `call` one model call; `session` since the session began. */
        | { type: 'usage'; scope: 'call' | 'turn' | 'session'; usage: Usage; estimated?: true }
      ))

/** An event outside of any turn: it came while none ran, or concerns the whole session. */
export type LinkEvent = { turn: null; lane?: string; ext?: Ext } & (
  | Shared
  | { type: 'agent-ready'; model?: string; version?: string; json?: JsonText }
  | { type: 'session-bound'; agentSession: string }
  /** `json` is one of `Offers`, with the members that have changed. */
  | { type: 'session-changed'; json: JsonText }
  /** `more`: further replies follow in the same exchange. */
  | { type: 'command-reply'; exchange: Id; data?: JsonText; fault?: Fault; more?: true }
)

/** Any event from an agent to a client. */
export type AgentEvent = TurnEvent | LinkEvent

/** The event of one type, also of types that share their members. */
export type EventOf<T extends AgentEvent['type']> = OneOf<TurnEvent, T>

type OneOf<E, T> = E extends { type: infer Types } ? (T extends Types ? E : never) : never
