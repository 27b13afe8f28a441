import { dropped, weakened } from '../../../src/codec-kit/index.ts'
import type { Citation, Loss, Part, Stop, TurnEvent } from '../../../src/model/index.ts'
import { type AnnotationPlace, citationLoss } from '../annotations.ts'
import { isStrange } from '../further.ts'
import { PROTOCOL } from '../wire.ts'

/** Receives what a client is not shown. */
export type Report = (loss: Loss) => void

/** Kinds of parts that an answer shows, or that have events of their own. */
const SHOWN: ReadonlySet<Part['type']> = new Set(['text', 'reasoning', 'tool-call', 'tool-reply'])

/** Reports the parts that an answer of an API does not show; without `place` they are those of a tool's result. */
export function reportParts(parts: readonly Part[], place: AnnotationPlace | undefined, report: Report): void {
  for (const part of parts) {
    if (part.type === 'text') for (const citation of part.citations ?? []) reportCitation(citation, place, report)
    if (!SHOWN.has(part.type)) report(dropped(`part.${part.type}`))
    if (isStrange(part, place === 'chat' ? 'chat' : 'responses')) report(dropped('part.ext', part.ext!.protocol))
  }
}

function reportCitation(citation: Citation, place: AnnotationPlace | undefined, report: Report): void {
  const loss = place === undefined ? dropped('citation') : citationLoss(citation, place)
  if (loss) report(loss)
  if (citation.ext && citation.ext.protocol !== PROTOCOL) report(dropped('part.ext', citation.ext.protocol))
}

/** Reports the fields of other protocols, and a stop of `narrow`, which shares its word with a usual one. */
export function reportFields(event: TurnEvent, narrow: ReadonlySet<Stop>, report: Report): void {
  // The end of the message repeats its sources.
  if (event.ext && event.ext.protocol !== PROTOCOL && event.type !== 'citation')
    report(dropped('ext', event.ext.protocol))
  if (event.type !== 'turn-end') return
  const { outcome, stop, fault } = event
  if (fault?.ext && fault.ext.protocol !== PROTOCOL) report(dropped('ext', fault.ext.protocol))
  if (outcome === 'completed' && stop !== undefined && narrow.has(stop)) {
    report(weakened('end.stop', undefined, 'too-narrow'))
  }
}
