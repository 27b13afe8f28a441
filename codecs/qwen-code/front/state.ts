import type { Id, Loss, Usage } from '../../../src/model/index.ts'
import type { Client } from './client.ts'

/** A run of words that is not closed yet. */
export interface Run {
  category: 'text' | 'thinking'
  message: Id
  /** The index where it begins in the text or the thoughts of its message. */
  from: number
  id: string
}

/** The state of one turn that is written as lines. */
export interface Turn {
  readonly client: Client
  readonly exchange: Id
  readonly write: (line: string) => void
  /** True when pieces of messages are shown. */
  readonly partial: boolean
  /** `init` was written. */
  begun: boolean
  /** `result` was written. */
  done: boolean
  /** A `retry` line was written for the retractions that follow. */
  retried: boolean
  /** The number of answers when the open model call began. */
  before: number | undefined
  readonly answer: Answer
}

/** The answer of a turn: all that stands between two results of tools. */
export interface Answer {
  /** The number of answers of the model: the wire's `num_turns`. */
  count: number
  /** `announced`: its `message_start` was written. */
  state: 'none' | 'open' | 'announced'
  run: Run | undefined
  /** The number of the block among those of its line; the wire counts them from zero in each category. */
  index: number
  toolsInRow: number
  /** The tokens of the model call whose last line comes next. */
  usage: Usage | undefined
  /** The message whose thoughts were shown in pieces. */
  thought: Id | undefined
  /** The calls that were written. */
  readonly called: Set<Id>
}

/** A turn that is not written. */
export function newTurn(client: Client, exchange: Id, write: (line: string) => void): Turn {
  return {
    client,
    exchange,
    write,
    // An array of whole messages has no place for pieces.
    partial: client.args.partial && client.args.output === 'stream-json',
    begun: false,
    done: false,
    retried: false,
    before: undefined,
    answer: {
      count: 0,
      state: 'none',
      run: undefined,
      index: 0,
      toolsInRow: 0,
      usage: undefined,
      thought: undefined,
      called: new Set(),
    },
  }
}

/** Reports something of a turn that this wire has no place for. */
export function lose({ client, exchange }: Turn, loss: Loss): void {
  client.ports.report(loss, exchange)
}
