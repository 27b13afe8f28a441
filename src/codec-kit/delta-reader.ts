import type { WireText } from '../contract/index.ts'
import { type JsonText, type Loss, quote } from '../model/index.ts'
import { DeltaShape } from './delta-shape.ts'

/**
 * A delta: a message that holds one piece of an answer and nothing else. `kind` says which part of the answer the text
 * belongs to.
 */
export interface PlainDelta {
  kind: string
  text: string
}

/** Reads the messages of an answer with parser and schema, and recognizes deltas among them. */
export interface DeltaWire<M, D extends PlainDelta = PlainDelta> {
  /** Finds values that may be different in each delta and have no meaning (`valuesOf`). */
  readonly changing?: RegExp
  /** Reads a message with parser and schema; undefined when it cannot be read. */
  read(message: JsonText, report: (loss: Loss) => void): M | undefined
  /** The delta that a message is; undefined when it is more than that. */
  deltaOf(read: M): D | undefined
  /** Makes what `read` makes of `message`: a delta like this one, with another text. */
  another(delta: D, text: string, message: JsonText): M
}

/** The most shapes that are learnt in one answer. The messages of a server whose deltas all differ are parsed. */
const MOST = 8
/** The most places of a text in its message that are tried. */
const PLACES = 3
/** A text that replaces that of a delta, to see what `read` makes of it. */
const PROBE = 'probe'

/**
 * Reads the messages of one answer. A server writes the same JSON around the text of each delta. This shape is learnt
 * from a delta that was parsed, and used if `read` makes the same delta of it with another text. Messages of this shape
 * are recognized by comparing strings, in a tenth of the time of parsing and checking them. All others are parsed.
 */
export class DeltaReader<M, D extends PlainDelta = PlainDelta> {
  readonly #wire: DeltaWire<M, D>
  #known: { shape: DeltaShape; delta: D } | undefined
  #tries = 0

  constructor(wire: DeltaWire<M, D>) {
    this.#wire = wire
  }

  /** Reads a message; undefined when it cannot be read. `report` gets its losses. */
  read(message: JsonText, report: (loss: Loss) => void): M | undefined {
    const text = this.#known?.shape.textIn(message)
    if (text !== undefined) return this.#wire.another(this.#known!.delta, text, message)
    const read = this.#wire.read(message, report)
    const delta = read && this.#wire.deltaOf(read)
    if (delta && delta.text !== '') this.#learn(message, delta)
    return read
  }

  /** The delta whose shape is known. */
  get known(): D | undefined {
    return this.#known?.delta
  }

  /** The texts of deltas like that one in a row on a wire, whose place moves to their end. */
  textsIn(wire: WireText): string[] {
    return this.#known?.shape.textsIn(wire) ?? []
  }

  #learn(message: JsonText, delta: D): void {
    this.#known = undefined
    this.#tries += 1
    // An answer with a single delta has no use for a shape.
    if (this.#tries === 1 || this.#tries > MOST) return
    const quoted = quote(delta.text)
    let at = message.indexOf(quoted)
    for (let place = 0; place < PLACES && at >= 0 && !this.#known; place += 1) {
      const before = message.slice(0, at + 1)
      const after = message.slice(at + quoted.length - 1)
      if (this.#isSame(`${before}${PROBE}${after}`, delta.kind)) {
        this.#known = { shape: new DeltaShape(before, after, this.#wire.changing), delta }
      }
      at = message.indexOf(quoted, at + 1)
    }
  }

  /** True when `read` makes a delta of this kind of it, with the text `PROBE` and without a loss. */
  #isSame(message: JsonText, kind: string): boolean {
    let lossless = true
    const read = this.#wire.read(message, () => {
      lossless = false
    })
    const delta = read && this.#wire.deltaOf(read)
    return lossless && delta?.text === PROBE && delta.kind === kind
  }
}
