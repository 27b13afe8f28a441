import { type Id, quote, type TurnView } from '../../../src/model/index.ts'
import type { AnswerWriter } from './answer.ts'
import type { Lines } from './lines.ts'

/** Writes the reasoning of one turn as `x-qwen-thought` lines. A heading in bold is the subject of a thought. */
export class Thoughts {
  readonly #lines: Lines
  readonly #answer: AnswerWriter
  /** The length of each message's reasoning that was shown. */
  readonly #shown = new Map<Id, number>()

  constructor(lines: Lines, answer: AnswerWriter) {
    this.#lines = lines
    this.#answer = answer
  }

  /** Writes the thoughts of the newest message, before something that follows it. */
  flush(view: TurnView): void {
    const last = view.messages.at(-1)
    if (last) this.show(last.id, view)
  }

  /** Writes the thoughts of this message since they were last shown, as one thought. */
  show(message: Id, view: TurnView): void {
    const known = view.message(message)
    const shown = this.#shown.get(message) ?? 0
    if (!known || known.lane !== undefined || known.reasoning.length <= shown) return
    this.#shown.set(message, known.reasoning.length)
    this.#answer.before(view)
    const text = known.reasoning.slice(shown)
    const [, subject = '', description = text] = /^\*\*(.+?)\*\*\s*([\s\S]*)$/.exec(text) ?? []
    this.#lines.write('x-qwen-thought', [
      ['subject', quote(subject)],
      ['description', quote(description)],
    ])
  }
}
