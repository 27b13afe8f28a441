import type { EventOf, Id, JsonText, TurnView, Usage } from '../../../src/model/index.ts'
import type { FrontAsks } from './asks.ts'
import type { Lines } from './lines.ts'

/** A whole call, with its arguments as raw JSON. */
export type Call = Pick<EventOf<'tool-call'>, 'tool' | 'name' | 'args' | 'ext' | 'executor'>

/** The members of an answer's last line besides its reason. */
export interface Ending {
  /** The usage of the turn. */
  usage: JsonText | undefined
  ext: EventOf<'turn-end'>['ext']
}

/** Writes an answer's text, calls and usage, either message by message or in pieces. */
export interface AnswerWriter {
  /** The request was taken at this time (milliseconds since the epoch). */
  begin(at: number): void
  /** Something else is about to be written. */
  before(view: TurnView): void
  text(event: EventOf<'text-delta'>, view: TurnView): void
  endMessage(event: EventOf<'message-end'>, view: TurnView): void
  /** Takes a message back; false when it was shown. */
  retract(message: Id, view: TurnView): boolean
  toolStart?(event: EventOf<'tool-start'>, view: TurnView): void
  toolArgs?(event: EventOf<'tool-args-delta'>, view: TurnView): void
  /** The agent dropped a call whose pieces were shown. */
  toolDrop?(tool: Id): void
  toolCall(call: Call, view: TurnView): void
  /** The usage of one model call, for the next line that has room for it. */
  usage(usage: Usage): void
  /** The last line of the answer. `reason` is its finish reason; a cancelled one has none. */
  finish(reason: string | undefined, ending: Ending, view: TurnView): void
}

/** A request to cancel that waits for the turn's end. */
export interface CancelRequest {
  request: string
  reason: string
}

/** The state of one request that is answered in a structured format. */
export interface Turn {
  readonly lines: Lines
  readonly answer: AnswerWriter
  readonly asks: FrontAsks
  readonly task: 'prompt' | 'compact'
  /** The command that the request is, as the answer repeats it. */
  readonly command: JsonText | undefined
  /** The result of the command was written, or there is none to write. */
  commandDone: boolean
  /** The requests to cancel that have no answer yet. */
  readonly cancels: CancelRequest[]
  /** The calls that were written whole. */
  readonly called: Set<Id>
  /** The length of each message's reasoning that was shown. */
  readonly thoughts: Map<Id, number>
  /** The members of the agent's thought that was not shown yet. */
  thoughtExt: EventOf<'reasoning-delta'>['ext']
  /** Messages that stand in the result of a command. */
  readonly inResult: Set<Id>
  /** The whole answer is the result of a command. */
  answered: boolean
  begun: boolean
}
