import { dropped, weakened } from '../../../../src/codec-kit/index.ts'
import type { Loss, Part, ToolStatus, TurnEvent, TurnView } from '../../../../src/model/index.ts'
import { PROTOCOL } from '../../wire.ts'
import { NARROW } from '../stops.ts'

/** The ends of a client's call that the client has not run: its results are `ok`. */
const UNRUN: ReadonlySet<ToolStatus | undefined> = new Set(['error', 'cancelled'])

type Report = (loss: Loss) => void

/** Kinds of parts that an answer shows, or that events of their own tell of. */
const SHOWN: ReadonlySet<Part['type']> = new Set(['text', 'reasoning', 'tool-call', 'tool-reply'])

/** Reports what the client is not shown of an event. */
export function reportLosses(event: TurnEvent, view: TurnView, report: Report): void {
  if (event.ext && event.ext.protocol !== PROTOCOL) report(dropped('ext', event.ext.protocol))
  switch (event.type) {
    case 'message-start':
      if (event.phase === 'commentary') report(weakened('message.phase', 'commentary', 'too-narrow'))
      return
    case 'message-end':
      // The client's own prompt is nothing new to it.
      if (view.message(event.message)?.role !== 'user') reportParts(event.parts ?? [], report)
      return
    case 'turn-end': {
      const { outcome, stop, fault } = event
      if (fault?.ext && fault.ext.protocol !== PROTOCOL) report(dropped('ext', fault.ext.protocol))
      if (outcome === 'completed' && stop !== undefined && NARROW.has(stop)) {
        report(weakened('end.stop', undefined, 'too-narrow'))
      }
    }
  }
}

function reportParts(parts: readonly Part[], report: Report): void {
  for (const part of parts) {
    if (!SHOWN.has(part.type)) report(dropped(`part.${part.type}`))
    if (part.ext && part.ext.protocol !== PROTOCOL) report(dropped('part.ext', part.ext.protocol))
  }
}

/**
 * Reports the tools that the agent ran itself, which as calls would be for the client to run, and calls that were never
 * asked for because the answer was cut. `whole` is true when the answer was sent in one piece.
 */
export function reportTools({ tools, messages }: TurnView, whole: boolean, report: Report): void {
  const own = tools.filter(({ executor, status }) => executor !== 'client' || UNRUN.has(status)).length
  if (own > 0) report({ ...dropped('tool-call', undefined, 'policy'), count: own })
  if (whole) for (const { role, parts } of messages) if (role !== 'user') reportParts(parts ?? [], report)
}
