import { dropped, weakened } from '../../../src/codec-kit/index.ts'
import type { Loss, Part, Stop, TurnEvent } from '../../../src/model/index.ts'
import { PROTOCOL } from '../wire.ts'

/** Receives what a client is not shown. */
export type Report = (loss: Loss) => void

/** Kinds of parts that an answer shows, or that have events of their own. */
const SHOWN: ReadonlySet<Part['type']> = new Set(['text', 'reasoning', 'tool-call', 'tool-reply'])

/** Reports the parts that an answer does not show. */
export function reportParts(parts: readonly Part[], report: Report): void {
  for (const part of parts) {
    if (!SHOWN.has(part.type)) report(dropped(`part.${part.type}`))
    if (part.ext && part.ext.protocol !== PROTOCOL) report(dropped('part.ext', part.ext.protocol))
  }
}

/** Reports the fields of other protocols, and a stop of `narrow`, which shares its word with a usual one. */
export function reportFields(event: TurnEvent, narrow: ReadonlySet<Stop>, report: Report): void {
  if (event.ext && event.ext.protocol !== PROTOCOL) report(dropped('ext', event.ext.protocol))
  if (event.type !== 'turn-end') return
  const { outcome, stop, fault } = event
  if (fault?.ext && fault.ext.protocol !== PROTOCOL) report(dropped('ext', fault.ext.protocol))
  if (outcome === 'completed' && stop !== undefined && narrow.has(stop)) {
    report(weakened('end.stop', undefined, 'too-narrow'))
  }
}
