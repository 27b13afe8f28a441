import type { Ask } from './asks.ts'
import type { TurnEnd } from './event.ts'
import type { JsonText } from './json.ts'
import type { Id, Part, Usage } from './parts.ts'
import type { Executor, Role, ToolStatus } from './words.ts'

/** A message of the running turn. */
export interface MessageView {
  id: Id
  role: Role
  lane: string | undefined
  /** True when text deltas came for it. */
  streamed: boolean
  closed: boolean
  /** True when it is a refusal. */
  refuses: boolean
  /** True when it was closed after reasoning had come for it in pieces. */
  thought?: boolean
  /** Its text: the deltas, or the text that the agent sent at its end. */
  text: string
  reasoning: string
  parts: readonly Part[] | undefined
}

/** A tool of the running turn. */
export interface ToolView {
  id: Id
  name: string
  kind: string | undefined
  title: string | undefined
  lane: string | undefined
  executor: Executor
  /** The number of messages of the turn that had begun before it. */
  after: number
  args: JsonText
  /** True once its complete arguments came (`tool-call`). */
  called: boolean
  status: ToolStatus | undefined
  parts: readonly Part[]
}

/**
 * The live fold of one turn: one mutable object that the engine owns, read-only for codecs, current up to and including
 * the event being handled. `at` and `startedAt` are milliseconds since the epoch.
 */
export interface TurnView {
  readonly turn: Id
  readonly session: string
  readonly agent: string
  readonly seq: number
  readonly at: number
  readonly startedAt: number
  /** The answer: the text of the main lane's assistant messages, joined by an empty line. */
  readonly text: string
  /** The messages that `text` is of. */
  readonly answers: readonly MessageView[]
  readonly messages: readonly MessageView[]
  readonly tools: readonly ToolView[]
  readonly directives: readonly { action: string; json: JsonText; lane?: string }[]
  readonly notices: readonly { severity: string; code: string; text: string; lane?: string }[]
  readonly asks: readonly Ask[]
  readonly usage: Usage | undefined
  /** The tokens of this answer alone, where the turn has several because it was parked; as far as its agent tells them. */
  readonly answerUsage: Usage | undefined
  readonly usageEstimated: boolean
  readonly end: TurnEnd | undefined
  message(id: Id): MessageView | undefined
  tool(id: Id): ToolView | undefined
}
