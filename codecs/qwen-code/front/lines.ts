import { countMembers, messageLine } from '../../../src/codec-kit/index.ts'
import {
  append,
  type JsonText,
  type Members,
  member,
  members,
  object,
  oneLine,
  quote,
  rest,
  type Usage,
} from '../../../src/model/index.ts'
import { COUNTS } from '../usage.ts'
import type { Turn } from './state.ts'

/** The members of an `assistant` line besides its block. */
interface Said {
  id: string
  lane: string | undefined
  usage?: Usage | undefined
  /** Unknown members of the line; those of its message under `message`. */
  extra: JsonText | undefined
}

const MESSAGE: ReadonlySet<string> = new Set(['message'])

/** A `system` line. */
export function writeSystem(turn: Turn, subtype: JsonText, data: JsonText | undefined): void {
  const { ids, session } = turn.client
  const head = { type: '"system"', subtype, uuid: quote(ids.next()), session_id: quote(session) }
  turn.write(messageLine({ ...head, parent_tool_use_id: 'null', data }))
}

/** An `assistant` line. */
export function writeAssistant(turn: Turn, block: JsonText, stop: 'tool_use' | null, said: Said): void {
  const { id, lane, usage, extra } = said
  const message = object({
    id: quote(id),
    type: '"message"',
    role: '"assistant"',
    model: quote(turn.client.model),
    content: `[${block}]`,
    stop_reason: stop === null ? 'null' : quote(stop),
    usage: usageJson(usage),
  })
  writeMessage(turn, 'assistant', id, lane, message, extra)
}

/** A `user` line. */
export function writeUser(turn: Turn, block: JsonText, lane: string | undefined, extra: JsonText | undefined): void {
  writeMessage(turn, 'user', turn.client.ids.next(), lane, `{"role":"user","content":[${block}]}`, extra)
}

function writeMessage(
  { client, write }: Turn,
  type: string,
  uuid: string,
  lane: string | undefined,
  message: JsonText,
  extra: JsonText | undefined,
): void {
  const inner = extra === undefined ? undefined : member(extra, 'message')
  const entries: Members = {
    type: quote(type),
    uuid: quote(uuid),
    session_id: quote(client.session),
    parent_tool_use_id: lane === undefined ? 'null' : quote(lane),
    message: append(message, inner),
  }
  write(messageLine(entries, extra === undefined ? undefined : rest(extra, MESSAGE)))
}

/** A `stream_event` of the main lane; `extra` are unknown members of the line, those of its event under `event`. */
export function writeEvent(turn: Turn, event: JsonText, extra?: JsonText): void {
  if (extra === undefined) writePiece(turn, oneLine(event))
  else turn.write(messageLine(members(pieceLine(turn, append(event, member(extra, 'event')))), extra))
}

/** The hot path: a `stream_event` whose event has no line end. */
export function writePiece(turn: Turn, event: JsonText): void {
  turn.write(pieceLine(turn, event))
}

function pieceLine({ client: { ids, session } }: Turn, event: JsonText): string {
  return `{"type":"stream_event","uuid":"${ids.next()}","session_id":${quote(session)},"parent_tool_use_id":null,"event":${event}}`
}

/** A block of text. */
export function textBlock(text: string): JsonText {
  return `{"type":"text","text":${quote(text)}}`
}

/** A block of thought. */
export function thinkingBlock(text: string, signature: string): JsonText {
  return `{"type":"thinking","thinking":${quote(text)},"signature":${quote(signature)}}`
}

/** Tokens as this wire says them; unknown is zero, without a total. */
export function usageJson(usage?: Usage): JsonText {
  return object(countMembers({ input: 0, output: 0, ...usage }, COUNTS))
}
