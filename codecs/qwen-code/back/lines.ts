import * as v from 'valibot'
import { elements, type Item, isRecord, type JsonText, member } from '../../../src/model/index.ts'
import * as schema from '../schema.ts'
import { unknownWithin } from '../wire.ts'
import type { Words } from './answer.ts'
import { resultParts } from './tools.ts'
import type { Lane, TurnDecoder } from './turn.ts'

/** One line, parsed and raw. */
export interface Line {
  value: Record<string, unknown>
  json: string
}

/** The result of reading a line: read; not the shape of its type; not known, or about something that is not there. */
export type Reading = 'read' | 'misfit' | 'foreign'

/** Reads the lines of one type into a turn. */
export interface LineReader {
  /** The item that is lost when the line has not the shape of its type. */
  item: Item
  read(turn: TurnDecoder, line: Line): Reading
}

const LINE = new Set(['type', 'uuid', 'session_id', 'parent_tool_use_id', 'message'])
const ASSISTANT = new Set(['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage'])
const USER = new Set(['role', 'content'])
const EVENT_LINE = new Set(['type', 'uuid', 'session_id', 'parent_tool_use_id', 'event'])
const DELTA_EVENT = new Set(['type', 'index', 'delta'])
const STREAMED: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_stop',
  'tool_progress',
])

/** Lines of a turn by their `type`; `system` and `result` are the link's. */
export const LINES: ReadonlyMap<unknown, LineReader> = new Map<unknown, LineReader>([
  ['assistant', { item: 'message-end', read: readAssistant }],
  ['user', { item: 'tool-end', read: readUser }],
  ['stream_event', { item: 'text-delta', read: readStreamEvent }],
])

/** True for the hottest line: a piece of the main answer's text, without a member too many. */
export function plainDelta(value: Record<string, unknown>): string | undefined {
  const event = value['event']
  if (value['parent_tool_use_id'] != null || !isRecord(event) || event['type'] !== 'content_block_delta')
    return undefined
  const delta = event['delta']
  if (!isRecord(delta) || delta['type'] !== 'text_delta' || typeof delta['text'] !== 'string') return undefined
  return size(value) === 5 && size(event) === 3 && size(delta) === 2 ? delta['text'] : undefined
}

/** True for lines that only the RFC has. */
export function isOtherDialect(value: Record<string, unknown>): boolean {
  const { type, object } = value
  if (typeof object === 'string' && object.startsWith('chat.completion')) return true
  return typeof type === 'string' && /^(?:result\/|x-qwen-)/.test(type)
}

function size(value: Record<string, unknown>): number {
  let count = 0
  for (const _ in value) count += 1
  return count
}

function readAssistant(turn: TurnDecoder, { value, json }: Line): Reading {
  const { success, output } = v.safeParse(schema.Assistant, value)
  if (!success) return 'misfit'
  const lane = turn.lane(value['parent_tool_use_id'])
  const { id, content, usage } = output.message
  const extra = unknownWithin(json, value, LINE, { key: 'message', known: ASSISTANT })
  turn.count(lane, usage)
  const raw = elements(member(member(json, 'message')!, 'content')!)
  const words: Words[] = []
  let left = extra
  for (const [at, candidate] of content.entries()) {
    const block = v.safeParse(schema.AssistantBlock, candidate)
    if (!block.success) lane.out.unparsed('message-end', candidate.type)
    else if (block.output.type !== 'tool_use') words.push(block.output)
    else {
      lane.answer.tool()
      turn.tools.call(lane.out, block.output.id, block.output.name, inputOf(raw[at]!), left)
      left = undefined
    }
  }
  if (words.length > 0) lane.answer.whole(id, words, left)
  return 'read'
}

/** The raw arguments of a call; `{}` when it has none. */
function inputOf(block: JsonText): JsonText {
  return member(block, 'input') ?? '{}'
}

function readUser(turn: TurnDecoder, { value, json }: Line): Reading {
  const { success, output } = v.safeParse(schema.User, value)
  if (!success) return 'misfit'
  const lane = turn.lane(value['parent_tool_use_id'])
  const { content } = output.message
  const extra = unknownWithin(json, value, LINE, { key: 'message', known: USER })
  lane.answer.between()
  if (typeof content === 'string') {
    inject(lane, content, extra)
    return 'read'
  }
  const raw = elements(member(member(json, 'message')!, 'content')!)
  let reading: Reading = 'read'
  for (const [at, candidate] of content.entries()) {
    const block = v.safeParse(schema.UserBlock, candidate)
    if (!block.success) lane.out.unparsed('message-end', candidate.type)
    else if (block.output.type === 'text') inject(lane, block.output.text, extra)
    else if (!endTool(turn, lane, block.output, raw[at]!, extra)) reading = 'foreign'
  }
  return reading
}

function endTool(
  turn: TurnDecoder,
  { out }: Lane,
  block: Extract<v.InferOutput<typeof schema.UserBlock>, { type: 'tool_result' }>,
  raw: JsonText,
  extra: JsonText | undefined,
): boolean {
  const parts = resultParts(block.content, member(raw, 'content'))
  return turn.tools.end(out, block.tool_use_id, block.is_error, parts, turn.cancelAsked, extra)
}

/** A text that the CLI put into the conversation itself. */
function inject({ out }: Lane, text: string, extra: JsonText | undefined): void {
  const message = out.newId()
  out.emit({ type: 'message-start', message, role: 'user' })
  out.emit({ type: 'message-end', message, parts: [{ type: 'text', text }] }, extra)
}

function readStreamEvent(turn: TurnDecoder, { value, json }: Line): Reading {
  const held = value['event']
  if (!isRecord(held)) return 'misfit'
  if (!STREAMED.has(held['type'])) return 'foreign'
  const { success, output } = v.safeParse(schema.StreamEvent, held)
  if (!success) return 'misfit'
  const lane = turn.lane(value['parent_tool_use_id'])
  return readEvent(turn, lane, output, { value, json })
}

function readEvent(turn: TurnDecoder, lane: Lane, event: schema.StreamEvent, line: Line): Reading {
  const { answer, out } = lane
  switch (event.type) {
    case 'message_start':
      turn.tools.forgetDrafts()
      answer.start(event.message.id)
      return 'read'
    case 'content_block_start': {
      const { type, id, name } = event.content_block
      if (type !== 'tool_use' || name === undefined) return 'read'
      answer.tool()
      turn.tools.draft(out, event.index, id, name)
      return 'read'
    }
    case 'content_block_delta':
      return readDelta(turn, lane, event, line)
    case 'content_block_stop':
      answer.blockStop()
      return 'read'
    case 'message_stop':
      answer.stop()
      return 'read'
    case 'tool_progress': {
      if (!turn.tools.has(event.tool_use_id)) return 'foreign'
      const content = member(member(line.json, 'event')!, 'content')!
      out.emit({ type: 'tool-progress', tool: event.tool_use_id, parts: [{ type: 'data', json: content }] })
      return 'read'
    }
  }
}

function readDelta(
  turn: TurnDecoder,
  { answer, out }: Lane,
  { index, delta }: Extract<schema.StreamEvent, { type: 'content_block_delta' }>,
  { value, json }: Line,
): Reading {
  const extra = unknownWithin(json, value, EVENT_LINE, { key: 'event', known: DELTA_EVENT })
  if (delta.type === 'text_delta') answer.text(delta.text, extra)
  else if (delta.type === 'thinking_delta') answer.thinking(delta.thinking, extra)
  else if (!turn.tools.args(out, index, delta.partial_json)) return 'foreign'
  return 'read'
}
