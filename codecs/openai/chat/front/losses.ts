import { dropped, weakened } from '../../../../src/codec-kit/index.ts'
import type { ToolStatus, TurnEvent, TurnView } from '../../../../src/model/index.ts'
import { type Report, reportFields, reportParts } from '../../front/losses.ts'
import { NARROW } from '../stops.ts'

/** The ends of a client's call that the client has not run: its results are `ok`. */
const UNRUN: ReadonlySet<ToolStatus | undefined> = new Set(['error', 'cancelled'])

/** Reports what the client is not shown of an event. */
export function reportLosses(event: TurnEvent, view: TurnView, report: Report): void {
  reportFields(event, NARROW, report)
  if (event.type === 'message-start' && event.phase === 'commentary') {
    report(weakened('message.phase', 'commentary', 'too-narrow'))
  }
  // The client knows its own prompt.
  if (event.type === 'message-end' && view.message(event.message)?.role !== 'user') {
    reportParts(event.parts ?? [], 'chat', report)
  }
}

/**
 * Reports the tools that the agent ran itself, which as calls would be for the client to run, and calls that were never
 * asked for because the answer was cut. `whole` is true when the answer was sent in one piece.
 */
export function reportTools({ tools, messages }: TurnView, whole: boolean, report: Report): void {
  const own = tools.filter(({ executor, status }) => executor !== 'client' || UNRUN.has(status)).length
  if (own > 0) report({ ...dropped('tool-call', undefined, 'policy'), count: own })
  if (whole) for (const { role, parts } of messages) if (role !== 'user') reportParts(parts ?? [], 'chat', report)
}
