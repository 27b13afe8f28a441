import { dropped, invented, weakened } from '../../../src/codec-kit/index.ts'
import {
  type Citation,
  isRecord,
  type Loss,
  type Part,
  parse,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { citationJson } from '../citations.ts'
import { NARROW } from '../stops.ts'
import { PROTOCOL } from '../wire.ts'

type Report = (loss: Loss) => void

/** Kinds of parts that an answer shows, or that have events of their own. */
const SHOWN: ReadonlySet<Part['type']> = new Set(['text', 'reasoning', 'tool-call', 'tool-reply'])

/** Reports what the client is not shown of an event, or in another form. */
export function reportLosses(event: TurnEvent, view: TurnView, report: Report): void {
  // The end of the message repeats its sources.
  if (event.ext && event.ext.protocol !== PROTOCOL && event.type !== 'citation')
    report(dropped('ext', event.ext.protocol))
  switch (event.type) {
    case 'message-start':
      if (event.phase === 'commentary') report(weakened('message.phase', 'commentary', 'too-narrow'))
      return
    case 'message-end':
      // The client knows its own prompt.
      if (view.message(event.message)?.role !== 'user') reportParts(event.parts ?? [], SHOWN, report)
      return
    case 'tool-call':
      if (!isRecord(parse(event.args || '{}'))) report(weakened('tool-call', 'input'))
      return
    case 'tool-end':
      reportParts(event.parts, RESULTS, report)
      return
    case 'foreign':
      if (event.protocol !== PROTOCOL) report(dropped('foreign', event.protocol))
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

/** Kinds of parts that the result of a tool can show. */
const RESULTS: ReadonlySet<Part['type']> = new Set(['text', 'data'])

function reportParts(parts: readonly Part[], shown: ReadonlySet<Part['type']>, report: Report): void {
  for (const part of parts) {
    if (part.type === 'text') for (const citation of part.citations ?? []) reportCitation(citation, report)
    if (!shown.has(part.type)) report(dropped(`part.${part.type}`))
    if (part.ext && part.ext.protocol !== PROTOCOL) report(dropped('part.ext', part.ext.protocol))
    if (part.type === 'data' && part.mime !== undefined && shown.has('data')) report(weakened('part.data', 'mime'))
    if (part.type === 'reasoning' && part.seal && part.seal.provider !== PROTOCOL) report(weakened('reasoning.seal'))
  }
}

function reportCitation(citation: Citation, report: Report): void {
  if (citationJson(citation) === undefined) report(dropped('citation'))
  if (citation.ext && citation.ext.protocol !== PROTOCOL) report(dropped('part.ext', citation.ext.protocol))
}

/**
 * Reports the losses of usage at the end of an answer: a made-up count of input tokens, which the API requires, and a
 * total that differs from the sum of the counts.
 */
export function reportUsage({ answerUsage: usage = {} }: TurnView, report: Report): void {
  const { input, output = 0, total } = usage
  if (input === undefined) report(invented('usage.input'))
  if (total !== undefined && total !== (input ?? 0) + output) report(dropped('usage.total'))
}

/** Reports what a whole answer does not show of the messages and tools that it is made from. */
export function reportView({ messages, tools }: TurnView, report: Report): void {
  for (const { role, parts } of messages) if (role !== 'user') reportParts(parts ?? [], SHOWN, report)
  for (const { parts } of tools) reportParts(parts, RESULTS, report)
}
