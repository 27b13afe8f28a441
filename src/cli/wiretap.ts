import type { WireStep } from '../translate/index.ts'

/** The longest recorded wire, in characters: many times one request with its answer. */
const MOST = 32 * 1024 * 1024

/**
 * A record of a stand-in's wire, with which its open requests can be ended in its client's own protocol when the
 * gateway goes away. A wire that is too long is discarded as a whole, because half of it would be misleading.
 */
export class Wiretap {
  /** The gateway's id of the wire. */
  link = ''
  #steps: WireStep[] | undefined = []
  #size = 0

  /** The steps in order; undefined when the wire was too long. */
  get steps(): readonly WireStep[] | undefined {
    return this.#steps
  }

  /** The client wrote; undefined is the end of its input. */
  client(text: string | undefined): void {
    this.#add(text === undefined ? { who: 'client', text } : { who: 'client', text }, text)
  }

  /** Output for the client. */
  agent(text: string): void {
    this.#add({ who: 'agent', text }, text)
  }

  #add(step: WireStep, text = ''): void {
    this.#size += text.length
    if (this.#size > MOST) this.#steps = undefined
    this.#steps?.push(step)
  }
}
