import * as v from 'valibot'
import {
  type JsonLine,
  type LineReader,
  type Reading,
  toolResultParts,
  unparsed,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import { elements, isRecord, type JsonText, member, parseObject, type ToolStatus } from '../../../src/model/index.ts'
import { ApiRetry, Assistant, EVENT_TYPES, StreamEvent, User } from '../schema.ts'
import type { Lane } from './lane.ts'
import type { TurnDecoder } from './turn.ts'
import { usageOfCall } from './usage.ts'

/** The readers of the lines of a turn by their `type`; its begin and its end are the link's. */
export const LINES = wordTable<LineReader<TurnDecoder>>({
  stream_event: { item: 'text-delta', read: readStreamEvent },
  assistant: { item: 'message-end', read: readAssistant },
  user: { item: 'tool-end', read: readUser },
  system: { item: 'notice', read: readSystem },
})

/** The text of the hottest line: a piece of the main answer. */
export function plainDelta({ type, event, parent_tool_use_id: parent }: Record<string, unknown>): string | undefined {
  if (type !== 'stream_event' || parent != null || !isRecord(event) || event['type'] !== 'content_block_delta') return
  const delta = event['delta']
  if (!isRecord(delta) || delta['type'] !== 'text_delta' || typeof delta['text'] !== 'string') return
  return delta['text']
}

function readStreamEvent(turn: TurnDecoder, { value }: JsonLine): Reading {
  const { success, output: event } = v.safeParse(StreamEvent, value['event'])
  if (!success) return isRecord(value['event']) && !EVENT_TYPES.has(value['event']['type']) ? 'foreign' : 'misfit'
  const lane = turn.lane(value['parent_tool_use_id'])
  switch (event.type) {
    case 'message_start':
      lane.out.closeMessage()
      lane.streaming = event.message.id
      return 'read'
    case 'content_block_start': {
      const { type, id, name } = event.content_block
      const executor = EXECUTORS.get(type)
      if (executor && id !== undefined && name !== undefined) lane.draft(event.index, id, name, executor)
      else lane.blocks.set(event.index, type)
      return 'read'
    }
    case 'content_block_delta': {
      const { type, text, thinking, signature, partial_json: args } = event.delta
      if (text !== undefined && type === 'text_delta') lane.text(text)
      else if (thinking !== undefined) lane.thinking(thinking)
      else if (signature !== undefined) lane.signature(signature)
      else if (args === undefined || !lane.args(event.index, args)) return 'foreign'
      return 'read'
    }
    case 'content_block_stop':
      if (lane.blocks.get(event.index) === 'thinking') lane.thought()
      lane.blocks.delete(event.index)
      lane.blockStop(event.index)
      return 'read'
    case 'message_delta': {
      const usage = usageOfCall(event.usage, (loss) => turn.report(loss))
      if (usage) lane.out.emit({ type: 'usage', scope: 'call', usage })
      return 'read'
    }
    default:
      // The model is asked again.
      if (value['abandoned_blocks'] !== undefined) lane.retract()
      else lane.out.closeMessage()
      return 'read'
  }
}

const EXECUTORS = wordTable<'agent' | 'provider'>({
  tool_use: 'agent',
  mcp_tool_use: 'agent',
  server_tool_use: 'provider',
})

/** A whole message of the model, or a block of one that was streamed. */
function readAssistant(turn: TurnDecoder, { value, json }: JsonLine): Reading {
  const { success, output } = v.safeParse(Assistant, value)
  if (!success) return 'misfit'
  const lane = turn.lane(value['parent_tool_use_id'])
  const { id, content } = output.message
  // The error of a failed model call, which the result repeats.
  if (output.is_api_error_message && lane === turn.main) return 'read'
  const streamed = id !== undefined && id === lane.streaming
  const raw = elements(member(member(json, 'message')!, 'content')!)
  let reading: Reading = 'read'
  for (const [at, block] of content.entries()) {
    const executor = EXECUTORS.get(block.type)
    if (executor && block.id !== undefined && block.name !== undefined) {
      lane.call(block.id, block.name, member(raw[at]!, 'input') ?? '{}', executor)
    } else if (block.type === 'text' || block.type === 'thinking') {
      if (!streamed) readWords(lane, block)
    } else if (!readProviderResult(lane, raw[at]!)) reading = 'foreign'
  }
  if (!streamed) lane.out.closeMessage()
  return reading
}

function readWords(
  lane: Lane,
  { text, thinking, signature }: { text?: string; thinking?: string; signature?: string },
): void {
  if (text !== undefined) lane.text(text)
  if (thinking === undefined) return
  lane.thinking(thinking)
  lane.signature(signature ?? '')
  lane.thought()
}

/** The result of a tool that the model's provider runs; false for other blocks. */
function readProviderResult(lane: Lane, json: JsonText): boolean {
  const id = parseObject(json)!['tool_use_id']
  if (typeof id !== 'string') return false
  return lane.result(id, 'ok', [{ type: 'data', json: member(json, 'content') ?? 'null' }])
}

/** Results of tools, or a text that the CLI put into the conversation; repetitions are ignored. */
function readUser(turn: TurnDecoder, { value, json }: JsonLine): Reading {
  const { success, output } = v.safeParse(User, value)
  if (!success) return 'misfit'
  if (output.isReplay) return 'read'
  const lane = turn.lane(value['parent_tool_use_id'])
  const { content } = output.message
  if (typeof content === 'string') {
    inject(lane, content)
    return 'read'
  }
  const raw = elements(member(member(json, 'message')!, 'content')!)
  let reading: Reading = 'read'
  for (const [at, { type, text, tool_use_id: id, is_error: failed }] of content.entries()) {
    if (type === 'text' && text !== undefined) inject(lane, text)
    else if (type === 'tool_result' && id !== undefined) {
      const status = statusOf(turn, id, failed === true)
      if (!lane.result(id, status, toolResultParts(member(raw[at]!, 'content')))) reading = 'foreign'
    } else turn.report(unparsed('message-end', type))
  }
  return reading
}

function statusOf(turn: TurnDecoder, id: string, failed: boolean): ToolStatus {
  if (!failed) return 'ok'
  if (turn.denied.has(id)) return 'denied'
  return turn.cancelAsked ? 'cancelled' : 'error'
}

/** A text that the CLI put into the conversation itself. */
function inject({ out }: Lane, text: string): void {
  out.closeMessage()
  out.wholeText('user', text)
}

/** Lines that a turn does not need. */
const UNNEEDED: ReadonlySet<unknown> = new Set(['status', 'thinking_tokens'])

function readSystem(turn: TurnDecoder, { value }: JsonLine): Reading {
  const { subtype } = value
  const { out } = turn.main
  if (UNNEEDED.has(subtype)) return 'read'
  if (subtype === 'compact_boundary') out.notice('info', 'compacted', 'The agent has compacted its transcript.')
  else if (subtype === 'api_retry') {
    if (!v.is(ApiRetry, value)) return 'misfit'
    turn.main.retract()
    const { attempt, max_retries: max, error = 'unknown', error_status: status } = value
    const why = status == null ? error : `${error}, HTTP ${status}`
    out.notice('warning', 'retrying', `The model call failed (${why}); try ${attempt} of ${max} follows.`)
  } else return 'foreign'
  return 'read'
}
