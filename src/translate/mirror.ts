import { type Command, fault, type LinkEvent, type TurnStart } from '../model/index.ts'
import { MirrorLoop } from './mirror-loop.ts'
import { DISCARD, type Output } from './output.ts'
import type { Party } from './party.ts'
import { type Control, type Target, type TurnTarget, UNKNOWN } from './target.ts'

/**
 * The other protocol's wire, mirrored: its back half writes what a gateway would send; its front half reads that as a
 * client's request and gets the events. So no protocol needs made-up requests.
 */
export class MirrorTarget implements Target {
  readonly #party: Party
  readonly #of: 'agent' | 'client'
  readonly #output: Output
  readonly #loops: MirrorLoop[] = []

  /** `of` is the translated side: of an `agent` the output is what its client reads, of a `client` what its agent is sent. */
  constructor(party: Party, of: 'agent' | 'client', output: Output) {
    this.#party = party
    this.#of = of
    this.#output = output
  }

  start(command: Command & TurnStart): TurnTarget | undefined {
    const loop = this.#begin(command)
    if (loop || this.#of === 'client') return loop
    // A client's output does not depend on its request, so a request that the protocol cannot express becomes a plain one.
    const plain = this.#begin(plainTurn(command))
    if (!plain) {
      const { name } = this.#party.codec
      const text = `The turn cannot be expressed to a client of ${name}; it is left out.`
      this.#output.fault(fault('invalid-request', text))
    }
    return plain
  }

  send(command: Control): void {
    const busy = this.#loops.find((loop) => !loop.idle && loop.isMeantBy(command))
    const loop = busy ?? this.#loops[0]
    loop?.send(command)
  }

  link(event: LinkEvent): void {
    const loop = this.#loops.find((known) => known.waits(event)) ?? this.#loops[0]
    loop?.tell(event)
  }

  /** Begins a turn on an idle loop; undefined when its front did not take the request. */
  #begin(command: Command & TurnStart): MirrorLoop | undefined {
    const loop = this.#loops.find((known) => known.idle && !known.over) ?? this.#newLoop()
    return loop.start(command) ? loop : undefined
  }

  #newLoop(): MirrorLoop {
    const [sent, read] = this.#of === 'client' ? [this.#output, DISCARD] : [DISCARD, this.#output]
    const loop = new MirrorLoop(this.#party, sent, read)
    this.#loops.push(loop)
    loop.open()
    return loop
  }
}

/** A turn in the same session whose request is a plain prompt. */
export function plainTurn({ exchange, turn, session }: Command & TurnStart): Command & TurnStart {
  const input = [{ type: 'text', text: UNKNOWN } as const]
  const id = session?.id
  return { exchange, turn, type: 'turn-start', task: 'prompt', input, options: {}, session: { ...(id && { id }) } }
}
