import type { Step } from '../translate/index.ts'

/** How much of a wire is kept, in characters: many times what any one request and its answer come to. */
const MOST = 32 * 1024 * 1024

/**
 * What was said on a stand-in's wire, so that its client can be given an end of its own protocol when its gateway goes
 * away. What is too much is forgotten as a whole: half of it would tell a wrong story.
 */
export class Wiretap {
  /** The gateway's id of the wire. */
  link = ''
  #steps: Step[] | undefined = []
  #size = 0

  /** In its order; undefined when it was too much. */
  get steps(): readonly Step[] | undefined {
    return this.#steps
  }

  /** The client wrote; undefined is the end of its input. */
  client(text: string | undefined): void {
    this.#add(text === undefined ? { who: 'client', text } : { who: 'client', text }, text)
  }

  /** The client was told. */
  agent(text: string): void {
    this.#add({ who: 'agent', text }, text)
  }

  #add(step: Step, text = ''): void {
    this.#size += text.length
    if (this.#size > MOST) this.#steps = undefined
    this.#steps?.push(step)
  }
}
