import { isDropped } from '../../../src/codec-kit/index.ts'
import { type EventOf, type JsonText, type Members, parse, quote, type TurnView } from '../../../src/model/index.ts'
import { STATUS, writeDisplays } from '../display.ts'
import { ownMember, seconds } from '../wire.ts'
import { writeBefore, writePromptResult, writeThoughts } from './before.ts'
import type { Call, Turn } from './state.ts'

/**
 * Writes a whole call, with what comes before it; the message it belongs to may still be open. A call that the client
 * runs is pending until it brings the result.
 */
export function writeCall(turn: Turn, call: Call, view: TurnView): void {
  writePromptResult(turn)
  writeThoughts(turn, view)
  turn.called.add(call.tool)
  turn.answer.toolCall(call, view)
  const pending = call.executor === 'client'
  writeDisplay(turn, { tool: call.tool }, pending ? 'Pending' : 'Executing', 'null', view, pending)
}

/** Writes the output of a tool while it runs. */
export function writeProgress(turn: Turn, event: EventOf<'tool-progress'>, view: TurnView): void {
  writeBefore(turn, view)
  for (const shown of displaysOf(turn, event)) writeDisplay(turn, event, 'Executing', shown, view)
}

/**
 * Writes the result of a tool; before it the call, if only pieces of its arguments came. Of several displays all but the
 * last are shown as of a tool that runs. A call that was dropped while its arguments streamed ends its round without it.
 */
export function endTool(turn: Turn, event: EventOf<'tool-end'>, view: TurnView): void {
  const { tool, status } = event
  const known = view.tool(tool)
  if (known && isDropped(known)) {
    turn.answer.toolDrop?.(tool)
    return
  }
  if (known && !turn.called.has(tool)) {
    const args = parse(known.args) === undefined ? '{}' : known.args
    writeCall(turn, { tool, name: known.name, args, executor: known.executor }, view)
  }
  writeBefore(turn, view)
  if (status === 'denied') turn.lines.narrow('tool-end', 'status')
  const shown = displaysOf(turn, event)
  const last = shown.pop() ?? 'null'
  if (shown.length > 0) turn.lines.narrow('tool-end', 'parts')
  for (const part of shown) writeDisplay(turn, { tool }, 'Executing', part, view)
  writeDisplay(turn, event, STATUS[status], last, view)
}

/** The result of a tool as displays: verbatim when the agent speaks this dialect. */
function displaysOf({ lines }: Turn, { ext, parts }: EventOf<'tool-end' | 'tool-progress'>): JsonText[] {
  const own = ownMember(ext, 'result_display')
  return own === undefined ? writeDisplays(parts, (loss) => lines.report(loss)) : [own]
}

function writeDisplay(
  { lines }: Turn,
  { tool, ext }: Pick<EventOf<'tool-end'>, 'tool' | 'ext'>,
  status: string,
  shown: JsonText,
  view: TurnView,
  pending = false,
): void {
  const entries: Members = {
    tool_call_id: quote(tool),
    status: quote(status),
    result_display: shown,
    confirmation: ownMember(ext, 'confirmation') ?? 'null',
    pending: String(pending),
    timestamp: ownMember(ext, 'timestamp') ?? seconds(view.at),
  }
  lines.write('x-qwen-tool-display', entries, ext)
}
