import * as v from 'valibot'
import { wireId, wordTable } from '../../../src/codec-kit/index.ts'
import { type Ext, type Item, member } from '../../../src/model/index.ts'
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

type Event<E extends v.ObjectEntries> = v.InferOutput<v.LooseObjectSchema<E, undefined>>

/** The reader of an event with these members; unknown ones are kept as raw JSON. */
function reader<const E extends v.ObjectEntries>(
  members: E,
  item: Item,
  // false: the event refers to something that does not exist.
  handle: (turn: TurnDecoder, event: Event<E>, ext: Ext | undefined, line: string) => unknown,
  starts = true,
): Reader {
  const shape = v.looseObject(members)
  const known = new Set(['type', ...Object.keys(members)])
  return {
    item,
    starts,
    read(turn, value, line) {
      const { success, output } = v.safeParse(shape, value)
      if (!success) return 'misfit'
      const ext = unknownExt(line, value, known)
      return handle(turn, output, ext, line) === false ? 'stray' : 'read'
    },
  }
}

/** The reader of an event whose members are each read by themselves, whatever they are: it has no shape to check. */
function looseReader(
  members: readonly string[],
  item: Item,
  handle: (turn: TurnDecoder, event: Record<string, unknown>, ext: Ext | undefined) => void,
  starts = true,
): Reader {
  const known = new Set(['type', ...members])
  return {
    item,
    starts,
    read(turn, value, line) {
      handle(turn, value, unknownExt(line, value, known))
      return 'read'
    },
  }
}

const text = v.string()
/** Content, which is read from its raw text. */
const content = v.nullish(v.custom<readonly object[]>((parts) => Array.isArray(parts) && parts.every(isObject)))
const anything = v.optional(v.unknown())
/** Tokens and cost; `reasoning` came with newer versions. */
const COUNTS = ['input', 'output', 'cache_read', 'cache_write', 'cost_usd', 'reasoning']

function isObject(part: unknown): boolean {
  return typeof part === 'object' && part !== null
}

/** The readers of all events that belong to a prompt or compact. `text_delta` comes here only with an odd shape. */
export const READERS = wordTable<Reader>({
  text_delta: reader({ delta: text }, 'text-delta', (turn, { delta }, ext) => turn.text(delta, ext)),
  turn_start: reader({ step: v.pipe(v.number(), v.finite()) }, 'step-start', (turn, { step }, ext) =>
    turn.turnStart(step, ext),
  ),
  user_message: reader({ content }, 'message-end', (turn, _, ext, line) => {
    const message = turn.ports.newId()
    turn.emit({ type: 'message-start', message, role: 'user' })
    const { parts, ext: all } = turn.content(line, ext)
    turn.emit({ type: 'message-end', message, parts }, all)
  }),
  assistant_start: looseReader([], 'message-start', (turn, _, ext) => turn.openMessage(ext)),
  assistant_message: reader({ content }, 'message-end', (turn, _, ext, line) => turn.assistantMessage(line, ext)),
  tool_use_start: reader({ id: wireId, name: text }, 'tool-start', (turn, { id, name }, ext) => {
    const { message, tools } = turn
    const of = message === undefined ? {} : { message }
    turn.emit({ type: 'tool-start', tool: tools.start(id), ...of, name, executor: 'agent' }, ext)
  }),
  tool_use_args: reader({ id: wireId, delta: text }, 'tool-args-delta', (turn, { id, delta }, ext) => {
    const tool = turn.tools.drafting(id)
    return tool !== undefined && turn.emit({ type: 'tool-args-delta', tool, text: delta }, ext)
  }),
  // The model has no event for it: fronts end the arguments of a call when the whole call comes.
  tool_use_end: reader({ id: wireId }, 'tool-args-delta', () => true),
  // The arguments are sliced from the raw text.
  tool_call: reader({ id: wireId, name: text, args: anything }, 'tool-call', (turn, { id, name }, ext, line) => {
    const args = member(line, 'args') ?? '{}'
    turn.emit({ type: 'tool-call', tool: turn.tools.call(id), name, args, executor: 'agent' }, ext)
  }),
  tool_progress: reader({ id: wireId, text }, 'tool-progress', (turn, { id, text }, ext) => {
    const tool = turn.tools.running(id)
    return tool !== undefined && turn.emit({ type: 'tool-progress', tool, parts: [{ type: 'text', text }] }, ext)
  }),
  tool_result: reader(
    { id: wireId, is_error: v.nullish(v.boolean()), content },
    'tool-end',
    (turn, event, ext, line) => {
      const tool = turn.tools.end(event.id)
      if (tool === undefined) return false
      const { parts, ext: all } = turn.content(line, ext)
      return turn.emit({ type: 'tool-end', tool, status: event.is_error ? 'error' : 'ok', parts }, all)
    },
  ),
  usage: looseReader(COUNTS, 'usage', (turn, event, ext) => turn.usage(event, ext)),
  turn_end: reader({ stop: v.nullish(text) }, 'step-end', (turn, { stop, error }, ext) =>
    turn.turnEnd(stop ?? 'end', typeof error === 'string' ? error : undefined, ext),
  ),
  // One without words is a failure all the same.
  error: reader(
    { message: v.fallback(text, 'The agent did not say what went wrong.') },
    'turn-end',
    (turn, { message }, ext) => turn.error(message, ext),
    false,
  ),
  // It is the end of a compaction, whatever it says of it.
  compact_done: reader(
    { summary: v.fallback(text, '') },
    'turn-end',
    (turn, { summary }, ext) => turn.compactDone(summary, ext),
    false,
  ),
  done: looseReader([], 'turn-end', (turn, _, ext) => turn.finish(ext), false),
})
