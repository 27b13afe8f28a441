import * as v from 'valibot'
import {
  type JsonLine,
  keysOf,
  type LineReader,
  type Reading,
  scalarText,
  toolResultParts,
  unparsed,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import { elements, isRecord, type JsonText, member, type ToolStatus } from '../../../src/model/index.ts'
import * as schema from '../schema.ts'
import { unknownWithin } from '../wire.ts'
import type { Answer, Words } from './answer.ts'
import type { TurnDecoder } from './turn.ts'

/** Lines of a turn by their `type`; `system` and `result` are the link's. */
export const LINES = wordTable<LineReader<TurnDecoder>>({
  assistant: { item: 'message-end', read: readAssistant },
  user: { item: 'tool-end', read: readUser },
  stream_event: { item: 'text-delta', read: readStreamEvent },
})

const unknownOfAssistant = unknownWithin(schema.Assistant, 'message', keysOf(schema.Assistant.entries.message))
const unknownOfUser = unknownWithin(schema.User, 'message', keysOf(schema.User.entries.message))
const unknownOfDelta = unknownWithin(schema.StreamLine, 'event', keysOf(schema.BlockDelta))

/** True for the hottest line: a piece of the main answer's text, without a member too many. */
export function plainDelta(value: Record<string, unknown>): string | undefined {
  const { type, event, parent_tool_use_id: parent } = value
  if (type !== 'stream_event' || parent != null || !isRecord(event)) return undefined
  if (event['type'] !== 'content_block_delta') return undefined
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

function readAssistant(turn: TurnDecoder, { value, json }: JsonLine): Reading {
  const { success, output } = v.safeParse(schema.Assistant, value)
  if (!success) return 'misfit'
  const answer = turn.lane(value['parent_tool_use_id'])
  const { id, content, usage } = output.message
  turn.count(answer, usage)
  const raw = blocksOf(json)
  const words: Words[] = []
  let ext = unknownOfAssistant(json, value)
  for (const [at, candidate] of content.entries()) {
    const block = v.safeParse(schema.AssistantBlock, candidate)
    if (!block.success) answer.out.report(unparsed('message-end', candidate.type))
    else if (block.output.type !== 'tool_use') words.push(block.output)
    else {
      const { id, name } = block.output
      answer.tool()
      const args = member(raw[at]!, 'input') ?? '{}'
      answer.out.emit({ type: 'tool-call', tool: turn.calls.call(id), name, args, executor: 'agent' }, ext)
      ext = undefined
    }
  }
  if (words.length > 0) answer.whole(id, words, ext)
  return 'read'
}

function readUser(turn: TurnDecoder, { value, json }: JsonLine): Reading {
  const { success, output } = v.safeParse(schema.User, value)
  if (!success) return 'misfit'
  const answer = turn.lane(value['parent_tool_use_id'])
  const { content } = output.message
  const ext = unknownOfUser(json, value)
  answer.between()
  if (typeof content === 'string') {
    answer.out.wholeText('user', content, ext)
    return 'read'
  }
  const raw = blocksOf(json)
  let reading: Reading = 'read'
  for (const [at, candidate] of content.entries()) {
    const block = v.safeParse(schema.UserBlock, candidate)
    if (!block.success) answer.out.report(unparsed('message-end', candidate.type))
    else if (block.output.type === 'text') answer.out.wholeText('user', block.output.text, ext)
    else {
      const { tool_use_id: id, is_error: failed } = block.output
      const tool = turn.calls.end(id)
      const parts = toolResultParts(member(raw[at]!, 'content'))
      if (tool === undefined) reading = 'foreign'
      else answer.out.emit({ type: 'tool-end', tool, status: failed ? failureOf(turn, id) : 'ok', parts }, ext)
    }
  }
  return reading
}

function failureOf({ denied, cancelAsked }: TurnDecoder, tool: string): ToolStatus {
  if (denied.has(tool)) return 'denied'
  return cancelAsked ? 'cancelled' : 'error'
}

/** The raw blocks of a message. */
function blocksOf(json: JsonText): JsonText[] {
  return elements(member(member(json, 'message')!, 'content')!)
}

type Piece<T> = Extract<schema.StreamEvent, { type: T }>
type EventReader<T> = (turn: TurnDecoder, answer: Answer, event: Piece<T>, line: JsonLine) => unknown

/** Reads the pieces by their type; false is one about something that is not there. */
const EVENTS: { readonly [T in schema.StreamEvent['type']]: EventReader<T> } = {
  message_start: ({ drafts }, answer, { message }) => {
    // A new answer counts its blocks from zero.
    drafts.clear()
    answer.start(message.id)
  },
  content_block_start: ({ calls, drafts }, answer, { index, content_block: { type, id, name } }) => {
    if (type !== 'tool_use' || name === undefined) return
    answer.tool()
    const tool = calls.start(id)
    drafts.set(index, tool)
    answer.out.emit({ type: 'tool-start', tool, name, executor: 'agent' })
  },
  content_block_delta: ({ drafts }, answer, { index, delta }, { value, json }) => {
    if (delta.type === 'input_json_delta') {
      const tool = drafts.get(index)
      if (tool === undefined) return false
      return answer.out.emit({ type: 'tool-args-delta', tool, text: delta.partial_json })
    }
    const ext = unknownOfDelta(json, value)
    if (delta.type === 'text_delta') answer.text(delta.text, ext)
    else answer.thinking(delta.thinking, ext)
  },
  content_block_stop: (_, answer) => answer.blockStop(),
  message_stop: (_, answer) => answer.stop(),
  tool_progress: ({ calls }, { out }, { tool_use_id: id }, { json }) => {
    const tool = calls.running(id)
    if (tool === undefined) return false
    const content = member(member(json, 'event')!, 'content')!
    return out.emit({ type: 'tool-progress', tool, parts: [{ type: 'data', json: content }] })
  },
}

function readStreamEvent(turn: TurnDecoder, line: JsonLine): Reading {
  const held = line.value['event']
  if (!isRecord(held)) return 'misfit'
  if (!Object.hasOwn(EVENTS, scalarText(held['type']))) return 'foreign'
  const { success, output } = v.safeParse(schema.StreamEvent, held)
  if (!success) return 'misfit'
  const read = EVENTS[output.type] as EventReader<schema.StreamEvent['type']>
  return read(turn, turn.lane(line.value['parent_tool_use_id']), output, line) === false ? 'foreign' : 'read'
}
