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
export class Turn {
  readonly client: Client
  readonly exchange: Id
  readonly write: (line: string) => void
  /** True when pieces of messages are shown; an array of whole messages has no place for them. */
  readonly partial: boolean
  /** `init` was written. */
  begun = false
  /** `result` was written. */
  done = false
  /** A `retry` line was written for the retractions that follow. */
  retried = false
  /** The number of answers when the open model call began. */
  before: number | undefined
  readonly answer = new Answer()

  constructor(client: Client, exchange: Id, write: (line: string) => void) {
    this.client = client
    this.exchange = exchange
    this.write = write
    this.partial = client.args.partial && client.args.output === 'stream-json'
  }

  /** Reports something that this wire has no place for. */
  lose(loss: Loss): void {
    this.client.ports.report(loss, this.exchange)
  }
}

/** The answer of a turn: all that stands between two results of tools. */
class Answer {
  /** The number of answers of the model: the wire's `num_turns`. */
  count = 0
  /** `announced`: its `message_start` was written. */
  state: 'none' | 'open' | 'announced' = 'none'
  run: Run | undefined
  /** The number of the block among those of its line; the wire counts them from zero in each category. */
  index = 0
  toolsInRow = 0
  /** The tokens of the model call whose last line comes next. */
  usage: Usage | undefined
  /** The message whose thoughts were shown in pieces. */
  thought: Id | undefined
  /** The calls that were written. */
  readonly called = new Set<Id>()
}
