import { dropped, isDropped, weakened } from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  isRecord,
  type JsonText,
  object,
  type Part,
  parse,
  quote,
  type TurnView,
} from '../../../src/model/index.ts'
import { endAnswer, writeCall } from './answer.ts'
import { textBlock, writeAssistant, writeEvent, writeUser } from './lines.ts'
import type { Turn } from './state.ts'

/** Writes an `assistant` line of a sub-agent. */
export function writeLane(turn: Turn, block: JsonText, stop: 'tool_use' | null, lane: string, extra?: JsonText): void {
  writeAssistant(turn, block, stop, { id: turn.client.ids.next(), lane, extra })
}

/** `tool_use`. */
export function writeTool(
  turn: Turn,
  { tool, name, args, lane }: Pick<EventOf<'tool-call'>, 'tool' | 'name' | 'args'> & { lane?: string | undefined },
  view: TurnView,
  extra?: JsonText,
): void {
  turn.answer.called.add(tool)
  // This wire has objects alone.
  const fits = isRecord(parse(args))
  if (!fits) turn.lose(weakened('tool-call', 'input', 'too-narrow'))
  const input = fits ? args : '{}'
  if (lane === undefined) writeCall(turn, tool, name, input, view, extra)
  else {
    const block = `{"type":"tool_use","id":${quote(tool)},"name":${quote(name)},"input":${input}}`
    writeLane(turn, block, 'tool_use', lane, extra)
  }
}

/** `tool_progress`, which is one of the pieces: a client that wants none is shown none of what a tool says. */
export function writeProgress(turn: Turn, event: EventOf<'tool-progress'>, extra: JsonText | undefined): void {
  for (const part of event.parts) {
    if (part.type !== 'data' && part.type !== 'text') turn.lose(dropped(`part.${part.type}`, 'tool_progress'))
    else if (turn.client.args.partial) {
      const content = part.type === 'data' ? part.json : textBlock(part.text)
      writeEvent(turn, `{"type":"tool_progress","tool_use_id":${quote(event.tool)},"content":${content}}`, extra)
    } else turn.lose(weakened('tool-progress', undefined, 'policy'))
  }
}

/** `tool_result`; before it the call, if only pieces of its arguments came; nothing for a call that was dropped. */
export function endTool(turn: Turn, event: EventOf<'tool-end'>, view: TurnView, extra: JsonText | undefined): void {
  const tool = view.tool(event.tool)
  if (tool && isDropped(tool)) return
  const { lane, status } = event
  if (tool && !turn.answer.called.has(tool.id)) {
    writeTool(turn, { tool: tool.id, name: tool.name, args: tool.args, lane }, view)
  }
  if (lane === undefined) endAnswer(turn, view)
  if (status === 'denied' && tool) turn.client.totals.refused.push({ name: tool.name, id: tool.id, args: tool.args })
  const result = object({
    type: '"tool_result"',
    tool_use_id: quote(event.tool),
    is_error: String(status !== 'ok'),
    content: quote(event.parts.map((part) => textOfPart(turn, part)).join('\n')),
  })
  writeUser(turn, result, lane, extra)
}

/** The results of this wire are text. */
function textOfPart(turn: Turn, part: Part): string {
  if (part.type === 'text') return part.text
  const text = part.type === 'data' ? part.json : part.type === 'diff' ? part.after : ''
  turn.lose((text === '' ? dropped : weakened)(`part.${part.type}`, 'tool_result'))
  return text
}
