import type { WireText } from '../contract/index.ts'
import type { JsonText } from '../model/index.ts'
import { DeltaShape } from './delta-shape.ts'

/** The most shapes that are learnt: deltas that all differ are read by the pattern. */
const MOST = 8

/**
 * Reads the deltas of one turn that a pattern knows (`messagePattern`). A writer repeats the text around its deltas with
 * each of them. This shape is learnt from a delta that the pattern has read, and is compared in less time than the pattern
 * takes.
 */
export class PlainDeltas {
  readonly #pattern: RegExp
  readonly #changing: RegExp | undefined
  #learnt: { shape: DeltaShape; strings: readonly string[] } | undefined
  #tries = 0
  /** The strings of the newest delta as the pattern captures them, except the text, which is the last. */
  strings: readonly string[] = []

  /**
   * Nothing but braces follows the text, the last string of the pattern. `changing` finds the values that may be different in
   * each delta and have no meaning (`valuesOf`).
   */
  constructor(pattern: RegExp, changing?: RegExp) {
    this.#pattern = pattern
    this.#changing = changing
  }

  /** The text of a delta; undefined for any other message. */
  textIn(message: JsonText): string | undefined {
    const text = this.#learnt?.shape.textIn(message)
    if (text === undefined) return this.#match(message)
    this.strings = this.#learnt!.strings
    return text
  }

  /** The strings of the deltas that `textsIn` can read; undefined when there are none yet. */
  get known(): readonly string[] | undefined {
    return this.#learnt?.strings
  }

  /** The texts of deltas like the known one in a row on a wire, whose place moves to their end. */
  textsIn(wire: WireText): string[] {
    return this.#learnt?.shape.textsIn(wire) ?? []
  }

  #match(message: JsonText): string | undefined {
    const strings = this.#pattern.exec(message)
    if (!strings) return undefined
    this.strings = strings
    const text = strings[strings.length - 1]!
    if (text !== '') this.#learn(message, text, strings)
    return text
  }

  #learn(message: JsonText, text: string, strings: readonly string[]): void {
    this.#tries += 1
    // A turn of one delta has no use for it.
    if (this.#tries === 1 || this.#tries > MOST) return
    const end = message.lastIndexOf('"')
    const shape = new DeltaShape(message.slice(0, end - text.length), message.slice(end), this.#changing)
    this.#learnt = { shape, strings }
  }
}
