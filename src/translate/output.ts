import type { Frame, Framing } from '../contract/index.ts'
import { encodeFrame } from '../framing/index.ts'
import type { Fault, Loss } from '../model/index.ts'
import { LossLedger } from '../model/index.ts'

/** The result of a translation. */
export interface Translated {
  /** The other protocol's text, and nothing else. */
  out: string
  losses: readonly Loss[]
  /** Errors: input that could not be read, or not be expressed in the other protocol at all. */
  faults: readonly Fault[]
}

/** Takes what one side of a wire is sent. */
export interface Written {
  /** A frame of the other protocol. */
  frame(frame: Frame, framing: Framing): void
  /** A value of the canonical model. */
  line(value: object): void
  loss(loss: Loss): void
}

/** Discards everything: the side of a wire that is not translated. */
export const DISCARD: Written = { frame() {}, line() {}, loss() {} }

/** Collects the result of a translation. */
export class Output implements Translated, Written {
  readonly #ledger = new LossLedger()
  readonly faults: Fault[] = []
  out = ''
  /** Lines for the stderr of a program. */
  warned: string[] = []

  get losses(): readonly Loss[] {
    return this.#ledger.list
  }

  /** A frame of the other protocol. A body has a line of its own. */
  frame(frame: Frame, framing: Framing): void {
    this.out += encodeFrame(framing, frame)
    if (framing === 'body') this.out += '\n'
  }

  /** A value of the canonical model, as a line of JSON. */
  line(value: object): void {
    this.out += `${JSON.stringify(value)}\n`
  }

  loss(loss: Loss): void {
    this.#ledger.add(loss)
  }

  fault(fault: Fault): void {
    this.faults.push(fault)
  }
}
