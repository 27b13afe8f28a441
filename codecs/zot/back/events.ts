import * as v from 'valibot'
import { wordTable } from '../../../src/codec-kit/index.ts'
import type { Ext, Item } from '../../../src/model/index.ts'
import * as schema from '../schema.ts'
import { unknownExt } from '../wire.ts'
import type { TurnDecoder } from './turn.ts'

/** The reader of one event of the wire. */
export interface Reader {
  /** The item that is lost when the event has not the shape of its type. */
  item: Item
  /** True for events that only a running prompt or compact has, so that one implies that it runs. */
  starts: boolean
  /** `misfit`: not the shape of its type. `stray`: it refers to something that does not exist. */
  read(turn: TurnDecoder, value: Record<string, unknown>, line: string): 'read' | 'misfit' | 'stray'
}

type Loose = v.GenericSchema & { entries: Record<string, unknown> }

function reader<S extends Loose>(
  shape: S,
  item: Item,
  // false: the event refers to something that does not exist.
  handle: (turn: TurnDecoder, message: v.InferOutput<S>, ext: Ext | undefined, line: string) => unknown,
  starts = true,
): Reader {
  const known = new Set(['type', ...Object.keys(shape.entries)])
  return {
    item,
    starts,
    read(turn, value, line) {
      const { success, output } = v.safeParse(shape, value)
      if (!success) return 'misfit'
      const ext = unknownExt(line, value, known)
      return handle(turn, output as v.InferOutput<S>, ext, line) === false ? 'stray' : 'read'
    },
  }
}

/** The readers of all events that belong to a prompt or compact. `text_delta` comes here only with an odd shape. */
export const READERS = wordTable<Reader>({
  text_delta: reader(schema.TextDelta, 'text-delta', (turn, { delta }, ext) => turn.text(delta, ext)),
  turn_start: reader(schema.TurnStart, 'step-start', (turn, { step }, ext) => turn.turnStart(step, ext)),
  user_message: reader(schema.MessageEvent, 'message-end', (turn, _, ext, line) => turn.userMessage(line, ext)),
  assistant_start: reader(schema.Bare, 'message-start', (turn, _, ext) => turn.assistantStart(ext)),
  assistant_message: reader(schema.MessageEvent, 'message-end', (turn, _, ext, line) =>
    turn.assistantMessage(line, ext),
  ),
  tool_use_start: reader(schema.ToolUseStart, 'tool-start', (turn, { id, name }, ext) =>
    turn.toolUseStart(id, name, ext),
  ),
  tool_use_args: reader(schema.ToolUseArgs, 'tool-args-delta', (turn, { id, delta }, ext) =>
    turn.toolUseArgs(id, delta, ext),
  ),
  // The model has no event for it: fronts end the arguments of a call when the whole call comes.
  tool_use_end: reader(schema.ToolUseEnd, 'tool-args-delta', () => true),
  tool_call: reader(schema.ToolCall, 'tool-call', (turn, { id, name }, ext, line) =>
    turn.toolCall(id, name, line, ext),
  ),
  tool_progress: reader(schema.ToolProgress, 'tool-progress', (turn, { id, text }, ext) =>
    turn.toolProgress(id, text, ext),
  ),
  tool_result: reader(schema.ToolResult, 'tool-end', (turn, message, ext, line) =>
    turn.toolResult(message.id, message.is_error === true, line, ext),
  ),
  usage: reader(schema.UsageEvent, 'usage', (turn, event, ext) => turn.usage(event, ext)),
  turn_end: reader(schema.TurnEnd, 'step-end', (turn, { stop, error }, ext) =>
    turn.turnEnd(stop ?? 'end', typeof error === 'string' ? error : undefined, ext),
  ),
  error: reader(schema.ErrorEvent, 'turn-end', (turn, { message }, ext) => turn.error(message, ext), false),
  compact_done: reader(
    schema.CompactDone,
    'turn-end',
    (turn, { summary }, ext) => turn.compactDone(summary, ext),
    false,
  ),
  done: reader(schema.Bare, 'turn-end', (turn, _, ext) => turn.finish(ext), false),
})
