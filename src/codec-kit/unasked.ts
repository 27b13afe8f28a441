import type { BackPorts } from '../contract/index.ts'
import { type AgentEvent, beginningOf, type Id, type Part, type TurnEvent, UNASKED_OUTPUT } from '../model/index.ts'

/** The longest part of one unrequested turn that is kept, in UTF-16 units. */
const LIMIT = 16_384

/**
 * Collects the output of an agent while no turn of a client runs: `ports` are those of a decoder for it. It is emitted
 * as one notice without a turn when the turn that the agent began itself ends, or when nothing more can come of it.
 */
export class UnaskedOutput {
  readonly ports: BackPorts
  readonly #emit: BackPorts['emit']
  readonly #texts = new Map<Id, string>()
  #failure: string | undefined

  constructor(ports: BackPorts) {
    this.#emit = ports.emit
    this.ports = { ...ports, emit: (event) => this.#take(event), report() {} }
  }

  /** Emits the output so far. */
  tell(): void {
    const said = [...this.#texts.values(), this.#failure ?? ''].filter((text) => text.trim() !== '').join('\n\n')
    const severity = this.#failure === undefined ? 'info' : 'warning'
    this.#texts.clear()
    this.#failure = undefined
    if (said === '') return
    const text = said.length > LIMIT ? `${beginningOf(said, LIMIT)}…` : said
    this.#emit({ turn: null, type: 'notice', severity, code: UNASKED_OUTPUT, text })
  }

  #take(event: AgentEvent): void {
    if (event.turn === null) this.#emit(event)
    else this.#collect(event)
  }

  #collect(event: TurnEvent): void {
    switch (event.type) {
      case 'message-start':
        if (event.role === 'assistant') this.#texts.set(event.message, '')
        return
      case 'text-delta':
        this.#add(event.message, event.text)
        return
      case 'message-end':
        if (event.parts && this.#texts.has(event.message)) this.#texts.set(event.message, textOf(event.parts))
        return
      case 'message-retract':
        if (!event.keepText) this.#texts.delete(event.message)
        return
      case 'turn-end':
        this.#failure = event.outcome === 'failed' ? event.fault?.message : undefined
        this.tell()
    }
  }

  #add(message: Id, text: string): void {
    const said = this.#texts.get(message)
    if (said !== undefined && said.length <= LIMIT) this.#texts.set(message, said + text)
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** The turn that an agent began itself while none of a client ran, such as a job that it finished. */
export class UnaskedTurn<Decoder> {
  readonly #ports: BackPorts
  readonly #decoderOn: (ports: BackPorts) => Decoder
  #output: UnaskedOutput | undefined
  #decoder: Decoder | undefined
  #then: (() => void) | undefined
  /** It has an end of its own, which is waited for. */
  began = false

  /** `decoderOn` makes the decoder of a turn; it emits through the ports that it is given. */
  constructor(ports: BackPorts, decoderOn: (ports: BackPorts) => Decoder) {
    this.#ports = ports
    this.#decoderOn = decoderOn
  }

  /** The decoder of the turn, if there is one. */
  get decoder(): Decoder | undefined {
    return this.#decoder
  }

  /** Opens the turn if there is none. */
  open(): Decoder {
    if (this.#decoder === undefined) {
      this.#output = new UnaskedOutput(this.#ports)
      this.#decoder = this.#decoderOn(this.#output.ports)
    }
    return this.#decoder
  }

  /** Ends the turn: its output is emitted, and the step that waits for its end runs. */
  end(): void {
    this.#output?.tell()
    this.#output = undefined
    this.#decoder = undefined
    this.began = false
    const then = this.#then
    this.#then = undefined
    then?.()
  }

  /**
   * Runs the step when the turn is over; one without an end of its own is over now. Messages that name no turn would be
   * taken for those of the next one otherwise.
   */
  before(step: () => void): void {
    this.#then = step
    if (!this.began) this.end()
  }
}
