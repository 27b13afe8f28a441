import type { Frame, FrameRun } from '../../../../src/contract/index.ts'
import { type JsonText, quote, type TextRun } from '../../../../src/model/index.ts'

/** Shows that a stream is alive: clients throw at events of a type that they do not know. */
export const KEEP_ALIVE: Frame = { data: 'keep-alive', comment: true }

/** Receives an event of a stream: its number in the response, its type, its data. */
export type SendEvent = (sequence: number, type: string, json: JsonText) => void

/** The events of one response in order, and the items of its output so far. */
export class Output {
  readonly #send: SendEvent | undefined
  readonly #sendRun: ((run: FrameRun) => void) | undefined
  readonly #items: (JsonText | undefined)[] = []
  #sequence = 0

  /** Without `send` no events are written: only the items are kept. */
  constructor(send: SendEvent | undefined, sendRun?: (run: FrameRun) => void) {
    this.#send = send
    this.#sendRun = sendRun
  }

  /** True when events are written. */
  get streams(): boolean {
    return this.#send !== undefined
  }

  /** The items that are complete, as the `output` of a response. */
  get items(): JsonText {
    return `[${this.#items.filter((item) => item !== undefined).join(',')}]`
  }

  /** The number of items that have begun. */
  get length(): number {
    return this.#items.length
  }

  /** Writes an event. Its members, as JSON without braces, follow its type and its number. */
  event(type: string, members: () => JsonText): void {
    if (!this.#send) return
    this.#send(this.#sequence, type, `{"type":"${type}","sequence_number":${this.#sequence},${members()}}`)
    this.#sequence += 1
  }

  /** Writes a piece of text; `of` has the members that say what it is a piece of. */
  delta(type: string, of: JsonText, text: string): void {
    this.event(type, () => `${of},"delta":${quote(text)}`)
  }

  /** Writes pieces of text, like `delta` one by one. */
  deltas(event: string, of: JsonText, { inner }: TextRun): void {
    const first = this.#sequence
    this.#sequence += inner.length
    const count = { first, after: `,${of},"delta":"` }
    this.#sendRun?.({ event, before: `{"type":"${event}","sequence_number":`, count, pieces: inner, after: '"}' })
  }

  /** An item begins, at the next place. */
  begin(item: () => JsonText): number {
    const at = this.#items.push(undefined) - 1
    this.event('response.output_item.added', () => `"output_index":${at},"item":${item()}`)
    return at
  }

  /** An item that is complete when it begins. */
  whole(item: JsonText): void {
    this.done(
      this.begin(() => item),
      item,
    )
  }

  /** An item is complete. */
  done(at: number, item: JsonText): void {
    this.#items[at] = item
    this.event('response.output_item.done', () => `"output_index":${at},"item":${item}`)
  }
}
