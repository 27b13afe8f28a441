import { Output, type Translated } from './output.ts'
import type { Wire } from './recording.ts'
import { Run } from './run.ts'
import type { Translation } from './translation.ts'

/**
 * Translates recorded wires, one after the other. Pure: the same wires give the same text, losses and faults. A turn
 * that began and has no end in the recording fails, as it would have in a gateway.
 */
export function translate(wires: readonly Wire[], how: Translation): Translated {
  const output = new Output()
  for (const wire of wires) {
    // What the agent calls its session may be said behind the answer that names it.
    const before = new Run(wire, { ...how, to: 'canonical' }, new Output(), [])
    before.play()
    new Run(wire, how, output, before.sessions).play()
  }
  return output
}
