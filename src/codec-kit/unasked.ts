import type { BackPorts } from '../contract/index.ts'
import { type AgentEvent, type Id, type Part, type TurnEvent, UNASKED_OUTPUT } from '../model/index.ts'

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
    const text = said.length > LIMIT ? `${said.slice(0, LIMIT)}…` : said
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
