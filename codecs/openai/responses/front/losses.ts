import { dropped } from '../../../../src/codec-kit/index.ts'
import type { EventOf, TurnEvent, TurnView } from '../../../../src/model/index.ts'
import { type Report, reportFields, reportParts } from '../../front/losses.ts'
import { NARROW } from '../stops.ts'
import { foreignItem } from './foreign.ts'

/** Reports what the client is not shown of an event. */
export function reportLosses(event: TurnEvent, view: TurnView, report: Report): void {
  reportFields(event, NARROW, report)
  switch (event.type) {
    case 'message-end':
      // The client knows its own prompt.
      if (view.message(event.message)?.role !== 'user') reportParts(event.parts ?? [], 'response', report)
      return
    case 'tool-end':
      reportTool(event, view, report)
      return
    case 'foreign':
      if (foreignItem(event) === undefined) report(dropped('foreign', event.protocol))
  }
}

/** Reports a call of a sub-agent, or one that was never asked for; and what a result has besides text. */
function reportTool({ tool: id, parts }: EventOf<'tool-end'>, view: TurnView, report: Report): void {
  const tool = view.tool(id)
  if (!tool) return
  const unasked = tool.executor === 'client' && (tool.status === 'error' || tool.status === 'cancelled')
  if (unasked || tool.lane !== undefined) report(dropped('tool-call', undefined, 'policy'))
  else if (tool.executor !== 'client') reportParts(parts, undefined, report)
}
