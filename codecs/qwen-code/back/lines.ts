import * as v from 'valibot'
import { keysOf, scalarText, wordTable } from '../../../src/codec-kit/index.ts'
import { elements, type Item, isRecord, type JsonText, member } from '../../../src/model/index.ts'
import * as schema from '../schema.ts'
import { unknownWithin } from '../wire.ts'
import type { Answer, Words } from './answer.ts'
import { resultParts } from './tools.ts'
import type { TurnDecoder } from './turn.ts'

/** One line, parsed and raw. */
export interface Line {
  value: Record<string, unknown>
  json: string
}

/** The result of reading a line: read; not the shape of its type; not known, or about something that is not there. */
export type Reading = 'read' | 'misfit' | 'foreign'

/** Reads the lines of one type into a turn; `item` is what is lost when a line has not the shape of its type. */
export interface LineReader {
  item: Item
  read(turn: TurnDecoder, line: Line): Reading
}

/** Lines of a turn by their `type`; `system` and `result` are the link's. */
export const LINES = wordTable<LineReader>({
  assistant: { item: 'message-end', read: readAssistant },
  user: { item: 'tool-end', read: readUser },
  stream_event: { item: 'text-delta', read: readStreamEvent },
})

const unknownOfAssistant = unknownWithin(schema.Assistant, 'message', keysOf(schema.Assistant.entries.message))
const unknownOfUser = unknownWithin(schema.User, 'message', keysOf(schema.User.entries.message))
const unknownOfDelta = unknownWithin(schema.StreamLine, 'event', keysOf(schema.BlockDelta))

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
export function isOtherDialect({ type, object }: Record<string, unknown>): boolean {
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
  const answer = turn.lane(value['parent_tool_use_id'])
  const { id, content, usage } = output.message
  turn.count(answer, usage)
  const raw = blocksOf(json)
  const words: Words[] = []
  let extra = unknownOfAssistant(json, value)
  for (const [at, candidate] of content.entries()) {
    const block = v.safeParse(schema.AssistantBlock, candidate)
    if (!block.success) answer.out.unparsed('message-end', candidate.type)
    else if (block.output.type !== 'tool_use') words.push(block.output)
    else {
      answer.tool()
      turn.tools.call(answer.out, block.output.id, block.output.name, member(raw[at]!, 'input') ?? '{}', extra)
      extra = undefined
    }
  }
  if (words.length > 0) answer.whole(id, words, extra)
  return 'read'
}

function readUser(turn: TurnDecoder, { value, json }: Line): Reading {
  const { success, output } = v.safeParse(schema.User, value)
  if (!success) return 'misfit'
  const answer = turn.lane(value['parent_tool_use_id'])
  const { content } = output.message
  const extra = unknownOfUser(json, value)
  answer.between()
  if (typeof content === 'string') {
    inject(answer, content, extra)
    return 'read'
  }
  const raw = blocksOf(json)
  let reading: Reading = 'read'
  for (const [at, candidate] of content.entries()) {
    const block = v.safeParse(schema.UserBlock, candidate)
    if (!block.success) answer.out.unparsed('message-end', candidate.type)
    else if (block.output.type === 'text') inject(answer, block.output.text, extra)
    else {
      const { tool_use_id: tool, is_error: failed, content } = block.output
      const parts = resultParts(content, member(raw[at]!, 'content'))
      const status = !failed ? 'ok' : turn.cancelAsked ? 'cancelled' : 'error'
      if (!turn.tools.end(answer.out, { tool, status, parts }, extra)) reading = 'foreign'
    }
  }
  return reading
}

/** The raw blocks of a message. */
function blocksOf(json: JsonText): JsonText[] {
  return elements(member(member(json, 'message')!, 'content')!)
}

/** A text that the CLI put into the conversation itself. */
function inject({ out }: Answer, text: string, extra: JsonText | undefined): void {
  const message = out.newId()
  out.emit({ type: 'message-start', message, role: 'user' })
  out.emit({ type: 'message-end', message, parts: [{ type: 'text', text }] }, extra)
}

type Piece<T> = Extract<schema.StreamEvent, { type: T }>
type EventReader<T> = (turn: TurnDecoder, answer: Answer, event: Piece<T>, line: Line) => unknown

/** Reads the pieces by their type; false is one about something that is not there. */
const EVENTS: { readonly [T in schema.StreamEvent['type']]: EventReader<T> } = {
  message_start: ({ tools }, answer, { message }) => {
    tools.forgetDrafts()
    answer.start(message.id)
  },
  content_block_start: ({ tools }, answer, { index, content_block: { type, id, name } }) => {
    if (type !== 'tool_use' || name === undefined) return
    answer.tool()
    tools.draft(answer.out, index, id, name)
  },
  content_block_delta: ({ tools }, answer, { index, delta }, { value, json }) => {
    if (delta.type === 'input_json_delta') return tools.args(answer.out, index, delta.partial_json)
    const extra = unknownOfDelta(json, value)
    if (delta.type === 'text_delta') answer.text(delta.text, extra)
    else answer.thinking(delta.thinking, extra)
  },
  content_block_stop: (_, answer) => answer.blockStop(),
  message_stop: (_, answer) => answer.stop(),
  tool_progress: ({ tools }, { out }, { tool_use_id: tool }, { json }) => {
    if (!tools.has(tool)) return false
    out.emit({
      type: 'tool-progress',
      tool,
      parts: [{ type: 'data', json: member(member(json, 'event')!, 'content')! }],
    })
  },
}

function readStreamEvent(turn: TurnDecoder, line: Line): Reading {
  const held = line.value['event']
  if (!isRecord(held)) return 'misfit'
  if (!Object.hasOwn(EVENTS, scalarText(held['type']))) return 'foreign'
  const { success, output } = v.safeParse(schema.StreamEvent, held)
  if (!success) return 'misfit'
  const read = EVENTS[output.type] as EventReader<schema.StreamEvent['type']>
  return read(turn, turn.lane(line.value['parent_tool_use_id']), output, line) === false ? 'foreign' : 'read'
}
