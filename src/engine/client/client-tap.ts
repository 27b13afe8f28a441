import type { Frame } from '../../contract/index.ts'
import type { Tape } from '../common/index.ts'
import type { Exchange } from './exchange.ts'

/** The UTF-16 units of input that wait for the turn that they ask for. */
const WAITING_UNITS = 131_072

/**
 * Gives the tapes of a client's turns what its wire carries. It is there only for clients of a gateway that keeps wires.
 */
export class ClientTap {
  /** Input that was read since the last turn began. */
  #waiting: string[] = []
  #units = 0
  readonly #tapes = new Map<Exchange, Tape>()

  /** `request` is how the client began: the line of an HTTP request, or its arguments. */
  constructor(request: string) {
    this.received(request)
  }

  /** A frame of the client was read. */
  received(frame: Frame): void {
    const text = typeof frame === 'string' ? frame : frame.data
    for (const [exchange, tape] of this.#tapes) {
      if (exchange.ended) this.#tapes.delete(exchange)
      else tape.client('in', text)
    }
    if (this.#units + text.length > WAITING_UNITS) this.#waiting = []
    if (this.#waiting.length === 0) this.#units = 0
    this.#waiting.push(text)
    this.#units += text.length
  }

  /** Text of a frame was written, for this exchange. */
  sent(text: string, exchange: Exchange | undefined): void {
    const tape = exchange && this.#tapes.get(exchange)
    tape?.client('out', text.trimEnd())
  }

  /** The turn of an exchange is kept on a tape: what was read before is what asked for it. */
  record(exchange: Exchange, tape: Tape): void {
    for (const text of this.#waiting.splice(0)) tape.client('in', text)
    this.#units = 0
    this.#tapes.set(exchange, tape)
  }
}
