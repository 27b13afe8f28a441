/** The dialect on its own, and lines as its programs write them. */

import { options } from '../../../codecs/qwen/options.ts'
import { dialect, errors } from '../../../codecs/qwen-code/index.ts'
import type { AnyCodec } from '../../../src/contract/index.ts'
import type { AgentEvent, Fault, TurnEvent } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive } from '../../kit/drive.ts'

export const codec: AnyCodec = {
  name: 'qwen',
  dialects: { code: dialect },
  errors,
  endpoints: [],
  options,
}

export const STREAM = ['--input-format', 'stream-json', '--output-format', 'stream-json']
export const SESSION = '11111111-2222-4333-8444-555555555555'

/** A line sent by the link, parsed. */
export function sentObjects(drive: { sent: readonly unknown[] }): Record<string, unknown>[] {
  return drive.sent.map((frame) => JSON.parse(String(frame)) as Record<string, unknown>)
}

/** The id of the newest control request of this subtype that the link sent. */
export function requestId(drive: BackDrive, subtype: string): string {
  const found = sentObjects(drive).findLast(
    (line) => (line['request'] as { subtype?: string } | undefined)?.subtype === subtype,
  )
  if (!found) throw new Error(`no request ${subtype}`)
  return String(found['request_id'])
}

/** Answers the newest request of this subtype. */
export function respond(drive: BackDrive, subtype: string, payload: unknown = { subtype }): void {
  drive.feed(controlSuccess(requestId(drive, subtype), payload))
}

export function controlSuccess(id: string, response: unknown): string {
  return JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: id, response } })
}

export function controlError(id: string, error: unknown): string {
  return JSON.stringify({ type: 'control_response', response: { subtype: 'error', request_id: id, error } })
}

/** A back link whose agent has answered `initialize`. */
export function greeted(context: Parameters<typeof driveBack>[1] = {}): BackDrive {
  const drive = driveBack(codec, context)
  drive.link.open!()
  respond(drive, 'initialize', { subtype: 'initialize', session_id: SESSION, capabilities: {} })
  return drive
}

/** A greeted back link with a running turn. */
export function running(text = 'hi', version = '0.24.4'): BackDrive {
  const drive = greeted()
  drive.start(text)
  drive.feed(init({ qwen_code_version: version }))
  return drive
}

export function init(more: object = {}): string {
  return JSON.stringify({
    type: 'system',
    subtype: 'init',
    uuid: SESSION,
    session_id: SESSION,
    model: 'big',
    qwen_code_version: '0.24.4',
    ...more,
  })
}

const ADDRESS = { uuid: 'u', session_id: SESSION, parent_tool_use_id: null }

export function assistant(content: unknown[], more: object = {}, line: object = {}): string {
  const message = { id: 'a1', type: 'message', role: 'assistant', model: 'big', content, stop_reason: null, ...more }
  return JSON.stringify({ type: 'assistant', ...ADDRESS, message, ...line })
}

export function user(content: unknown, line: object = {}): string {
  return JSON.stringify({ type: 'user', ...ADDRESS, message: { role: 'user', content }, ...line })
}

export function stream(event: object, line: object = {}): string {
  return JSON.stringify({ type: 'stream_event', ...ADDRESS, event, ...line })
}

export const messageStart = (id?: string) =>
  stream({ type: 'message_start', message: { ...(id !== undefined && { id }), role: 'assistant', content: [] } })
export const messageStop = stream({ type: 'message_stop' })
export const blockStop = stream({ type: 'content_block_stop', index: 0 })
export const textDelta = (text: string) =>
  stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
export const thinkingDelta = (thinking: string) =>
  stream({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking } })

export function system(subtype: string, data?: unknown): string {
  return JSON.stringify({ type: 'system', subtype, ...ADDRESS, ...(data !== undefined && { data }) })
}

export function success(result: string | undefined, more: object = {}): string {
  return JSON.stringify({
    type: 'result',
    subtype: 'success',
    uuid: 'r',
    session_id: SESSION,
    is_error: false,
    duration_ms: 5,
    ...(result !== undefined && { result }),
    ...more,
  })
}

export function failure(message: string | undefined, more: object = {}): string {
  return JSON.stringify({
    type: 'result',
    subtype: 'error_during_execution',
    uuid: 'r',
    session_id: SESSION,
    is_error: true,
    duration_ms: 5,
    ...(message !== undefined && { error: { message } }),
    ...more,
  })
}

/** What the turn ended with. */
export function endOf(events: readonly AgentEvent[]): Extract<TurnEvent, { type: 'turn-end' }> {
  const ends = events.filter((event) => event.type === 'turn-end')
  if (ends.length !== 1) throw new Error(`${ends.length} ends`)
  return ends[0]! as Extract<TurnEvent, { type: 'turn-end' }>
}

/** Events without those of the link, in short: the type and what it holds. */
export function turnEvents(drive: BackDrive): object[] {
  return drive.events
    .filter((event) => event.turn !== null)
    .map((event) => {
      const { turn: _turn, ...rest } = event
      return rest
    })
}

/** A front of a stream-json client. */
export function streamClient(...more: string[]): FrontDrive {
  return driveFront(codec, { argv: [...STREAM, ...more, '--session-id', SESSION] })
}

export function say(content: unknown, more: object = {}): string {
  return JSON.stringify({ type: 'user', session_id: '', message: { role: 'user', content }, ...more })
}

export function control(id: string, request: unknown): string {
  return JSON.stringify({ type: 'control_request', request_id: id, request })
}

/** The gateway did the newest command, or gives why not. */
export function settled(front: FrontDrive, reason?: Fault): void {
  const { exchange } = front.commands.at(-1)!
  front.link.encodeLink!({ turn: null, type: 'command-reply', exchange, ...(reason && { fault: reason }) })
}
