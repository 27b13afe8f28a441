import type { FrameRun } from '../../../src/contract/index.ts'
import { append, type Fault, type JsonText, type Members, member, object, quote } from '../../../src/model/index.ts'
import { errors, safeMessage } from '../errors.ts'
import { ownExt } from '../wire.ts'
import type { Shape } from './args.ts'
import type { Ids } from './request.ts'

/** The members that every line of the protocol shape begins with. */
export function head(type: string, { request, session }: Ids, at: number): Members {
  return {
    protocol_version: '1',
    type: quote(type),
    request_id: quote(request),
    session_id: quote(session) ?? 'null',
    ts_ms: String(at),
  }
}

/** An `ack` line. `more` holds the members that only this status has, as raw JSON. */
export function ackLine(ids: Ids, at: number, status: string, more: Members = {}): string {
  return object({ ...head('ack', ids, at), status: quote(status), ...more })
}

/** The beginning of every `event` line of a run up to the value of its `ts_ms`; made once, because deltas are many. */
export function eventHead(ids: Ids): string {
  return object(head('event', ids, 0)).slice(0, -2)
}

/** An `event` line, after `eventHead`. */
export function eventLine(start: string, at: number, seq: number, type: string, payload: JsonText): string {
  return `${start}${at},"event_type":"${type}","seq":${seq},"payload":${payload}}`
}

/** The `event` lines of pieces of text, of which the first has the number `seq`. */
export function deltaLines(start: string, at: number, seq: number, pieces: readonly JsonText[]): FrameRun {
  return {
    before: `${start}${at},"event_type":"TEXT_DELTA","seq":`,
    count: { first: seq, after: ',"payload":{"delta":"' },
    pieces,
    after: '"}}',
  }
}

/** Another Zene agent's `event` line under this run's ids and count; undefined when it is no such line. */
export function relayedEvent(frame: string, start: string, at: number, seq: number): string | undefined {
  if (member(frame, 'type') !== '"event"') return undefined
  const type = member(frame, 'event_type') ?? 'null'
  return `${start}${at},"event_type":${type},"seq":${seq},"payload":${member(frame, 'payload') ?? '{}'}}`
}

/** The `error` object of the protocol shape. */
export function errorObject(fault: Fault): JsonText {
  const { code, http } = errors[fault.code]
  const json = object({
    code: quote(code),
    message: quote(safeMessage(fault)),
    retryable: String(fault.retryable),
    http_status: code === 'BUSY' ? String(http) : undefined,
  })
  return append(json, ownExt(fault.ext))
}

/** The `usage` object. */
export function usageJson(input: number, output: number, total: number, estimated = false): JsonText {
  return object({
    prompt_tokens: String(input),
    completion_tokens: String(output),
    total_tokens: String(total),
    estimated: estimated ? 'true' : undefined,
  })
}

/**
 * An answer in the client's shape: `protocol`, the flat answer of the text's section "Response Schema" (always with a
 * text, `""` on errors), or both.
 */
export function shaped(
  shape: Shape,
  ids: Ids,
  text: string,
  usage: JsonText,
  fault: Fault | undefined,
  protocol: Members,
): JsonText {
  if (shape === 'protocol') return object(protocol)
  const flat: Members = {
    ok: String(fault === undefined),
    request_id: quote(ids.request),
    session_id: quote(ids.session ?? ''),
    text: quote(text),
    error_code: fault ? quote(errors[fault.code].code) : 'null',
    error_message: fault ? quote(safeMessage(fault)) : 'null',
    usage,
  }
  return object(shape === 'flat' ? flat : { ...protocol, ...flat })
}

/** The answer to a request that never ran: flat, or an `error` line. */
export function errorLine(shape: Shape, ids: Ids, fault: Fault, at: number): string {
  return shaped(shape, ids, '', usageJson(0, 0, 0), fault, { ...head('error', ids, at), error: errorObject(fault) })
}

/** The `status` of a `final` line. */
export function statusOf(fault: Fault | undefined): string {
  if (!fault) return 'OK'
  if (fault.code === 'timeout') return 'TIMEOUT'
  return fault.code === 'cancelled' ? 'CANCELED' : 'ERROR'
}
