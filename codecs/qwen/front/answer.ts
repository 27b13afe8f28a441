import type { EventOf, Id, JsonText, TurnEvent, TurnView, Usage } from '../../../src/model/index.ts'

/** A piece of text. */
export type Delta = Extract<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }>

/** A whole call, with its arguments as raw JSON. */
export type Call = Pick<EventOf<'tool-call'>, 'tool' | 'name' | 'args' | 'ext'>

/** Writes an answer's text, calls and usage, either message by message or in pieces. */
export interface AnswerWriter {
  /** The request was taken at this time (milliseconds since the epoch). */
  begin(at: number): void
  /** Something else is about to be written. */
  before(view: TurnView): void
  text(event: Delta, view: TurnView): void
  endMessage(event: EventOf<'message-end'>, view: TurnView): void
  /** Takes a message back; false when it was shown. */
  retract(message: Id, view: TurnView): boolean
  /** The agent dropped a call whose pieces were shown. */
  toolDrop(tool: Id): void
  toolStart(event: EventOf<'tool-start'>, view: TurnView): void
  toolArgs(event: EventOf<'tool-args-delta'>, view: TurnView): void
  toolCall(call: Call, view: TurnView): void
  /** The usage of one model call, for the next line that has room for it. */
  usage(usage: Usage): void
  /** The last of the answer. `reason` is its finish reason; a cancelled one has none. */
  finish(reason: string | undefined, ending: Ending, view: TurnView): void
}

/** The members of an answer's last line besides its reason. */
export interface Ending {
  /** The usage of the turn. */
  usage: JsonText | undefined
  ext: EventOf<'turn-end'>['ext']
}

/** True for a message of the answer: not of the user, not of a sub-agent. */
export function isAnswer(message: Id, view: TurnView): boolean {
  const known = view.message(message)
  return known?.role === 'assistant' && known.lane === undefined
}

/** Parts of a message that are written from elsewhere: its text, its thoughts, its calls. */
export const IN_MESSAGE: ReadonlySet<string> = new Set(['text', 'reasoning', 'tool-call'])
