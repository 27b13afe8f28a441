import type { EventOf } from './event.ts'
import { isPlain, type JsonText, quote } from './json.ts'
import type { Id } from './parts.ts'

type TextDelta = EventOf<'text-delta'>

/**
 * Consecutive pieces of the text of one message, which came in one read: each is an event of its turn, none is empty, and
 * none has a `lane` or an `ext`. What is done with them together costs a part of what it costs one by one.
 */
export class TextRun {
  readonly #first: TextDelta
  readonly texts: string[]
  #text: string | undefined
  #inner: readonly JsonText[] | undefined

  constructor(first: TextDelta, texts: string[] = [first.text]) {
    this.#first = first
    this.texts = texts
  }

  /** Pieces of the text of a message; there is one at least. */
  static from(turn: Id, message: Id, texts: string[]): TextRun {
    return new TextRun({ turn, type: 'text-delta', message, text: texts[0]! }, texts)
  }

  get turn(): Id {
    return this.#first.turn
  }

  get message(): Id {
    return this.#first.message
  }

  get length(): number {
    return this.texts.length
  }

  /** True when an event may be part of such a run. */
  static takes({ text, lane, ext }: TextDelta): boolean {
    return text !== '' && lane === undefined && ext === undefined
  }

  /** All of the text; the run has its last piece. */
  get text(): string {
    this.#text ??= this.texts.join('')
    return this.#text
  }

  /** The pieces as they stand in JSON strings, without their quotes. */
  get inner(): readonly JsonText[] {
    this.#inner ??= isPlain(this.text) ? this.texts : this.texts.map((text) => quote(text).slice(1, -1))
    return this.#inner
  }

  /** The first event. */
  get first(): TextDelta {
    return this.#first
  }

  /** The events that it consists of. */
  get events(): TextDelta[] {
    return this.texts.map((text) => ({ ...this.#first, text }))
  }

  /** Adds the next piece. */
  add(text: string): void {
    this.texts.push(text)
    this.#text = undefined
    this.#inner = undefined
  }

  /** This and what follows it. */
  with({ texts }: TextRun): TextRun {
    return new TextRun(this.#first, this.texts.concat(texts))
  }

  /** The same for a message that has another id here. */
  of(message: Id): TextRun {
    return message === this.message ? this : new TextRun({ ...this.#first, message }, this.texts)
  }
}
