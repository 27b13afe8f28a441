import { Output, type Translated } from './output.ts'
import type { Wire } from './recording.ts'
import type { Translation } from './translation.ts'
import { WirePlayer } from './wire-player.ts'

/**
 * Translates recorded wires, one after the other. Pure: the same wires give the same text, losses and faults. A turn
 * without an end in the recording fails, as in a gateway.
 */
export function translate(wires: readonly Wire[], how: Translation): Translated {
  const output = new Output()
  for (const wire of wires) {
    // The agent's name of the session may follow the answer that refers to it.
    const before = new WirePlayer(wire, { ...how, to: 'canonical' }, new Output(), [])
    before.play()
    new WirePlayer(wire, how, output, before.sessions).play()
  }
  return output
}
