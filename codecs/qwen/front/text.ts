import { nonTextLosses, wellFormed } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import type { Id, TurnEvent, TurnView } from '../../../src/model/index.ts'

/** Writes the end of a turn whose answer is plain text: the text on stdout, a failure on stderr. */
export function writeText(ports: FrontPorts, exchange: Id, event: TurnEvent, view: TurnView): void {
  if (event.type !== 'turn-end') return
  for (const loss of nonTextLosses(view)) ports.report(loss, exchange)
  if (view.text !== '') ports.send(wellFormed(view.text, (loss) => ports.report(loss, exchange)))
  if (event.outcome !== 'completed') warn(ports, event.fault?.message ?? `The turn was ${event.outcome}.`)
}

/** Writes a line on stderr. */
export function warn(ports: FrontPorts, text: string): void {
  ports.warn(`turnpike as qwen: ${text}`)
}
