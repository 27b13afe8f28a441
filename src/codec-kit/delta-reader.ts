import { type JsonText, type Loss, quote } from '../model/index.ts'
import { DeltaShape } from './delta-shape.ts'

/** A message that is one piece of an answer and nothing else: its text, and what it is a piece of. */
export interface PlainDelta {
  kind: string
  text: string
}

/** The messages of an answer: how each is read the full way, and which of them are deltas. */
export interface DeltaWire<M, D extends PlainDelta = PlainDelta> {
  /** Finds values that may be different in each delta and have no meaning (`valuesOf`). */
  readonly changing?: RegExp
  /** Reads a message the full way; undefined when it cannot be read. */
  read(message: JsonText, report: (loss: Loss) => void): M | undefined
  /** The delta that a message is; undefined when it is more than that. */
  deltaOf(read: M): D | undefined
  /** Makes what the full way reads in `message`: a delta like this one, with another text. */
  another(delta: D, text: string, message: JsonText): M
}

/** The most shapes that are learnt in one answer: a server whose deltas all differ is read the full way. */
const MOST = 8
/** The most places of a text in its message that are tried. */
const PLACES = 3
/** A text that stands in the place of another one to see what the full way reads there. */
const PROBE = 'probe'

/**
 * Reads the messages of one answer. A server repeats the text around its deltas with each of them, so that it tells what
 * they are in a tenth of the time of parsing and checking. This shape is learnt from a delta that was read the full way,
 * and kept if the full way reads another text in it as the same delta with that text. All else is read the full way.
 */
export class DeltaReader<M> {
  readonly #wire: DeltaWire<M>
  #known: { shape: DeltaShape; delta: PlainDelta } | undefined
  #tries = 0

  constructor(wire: DeltaWire<M>) {
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

  #learn(message: JsonText, delta: PlainDelta): void {
    this.#known = undefined
    this.#tries += 1
    // An answer of one delta has no use for it.
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

  /** True when the full way reads `PROBE` as a delta of this kind, and loses nothing. */
  #isSame(message: JsonText, kind: string): boolean {
    let lossless = true
    const read = this.#wire.read(message, () => {
      lossless = false
    })
    const delta = read && this.#wire.deltaOf(read)
    return lossless && delta?.text === PROBE && delta.kind === kind
  }
}
