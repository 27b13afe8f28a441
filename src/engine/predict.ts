import type { Capabilities } from '../contract/index.ts'
import type { Command, Fault, TurnStart } from '../model/index.ts'

/** Placeholder until the real one is here. */
export function strictRefusal(
  _front: Capabilities,
  _back: Capabilities,
  _command: Command & TurnStart,
  _same: boolean,
): Fault | undefined {
  return undefined
}
