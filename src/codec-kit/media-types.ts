import type { FrontContext, FrontPorts } from '../contract/index.ts'
import { fault } from '../model/index.ts'

/** The media types under which clients send JSON lines. */
const LINES = /^\s*application\/(x-ndjson|ndjson|jsonl|x-jsonlines|json-lines|x-json-stream|json)\s*(;|$)/i

/** True when a body of this content type may be one JSON value (`application/json`, or a type with `+json`); absent is fine. */
export function isJsonType(contentType: string | undefined): boolean {
  return !contentType || /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType)
}

/** True when a body of this content type may be lines of JSON; absent is fine. A browser's form cannot send them. */
export function isLinesType(contentType: string | undefined): boolean {
  return !contentType || LINES.test(contentType)
}

/** Refuses the body of an HTTP client when its content type is not that of lines of JSON. True when it was refused. */
export function refusesBody({ transport, headers }: FrontContext, ports: FrontPorts): boolean {
  if (transport !== 'http' || isLinesType(headers['content-type'])) return false
  const text = 'The body must be lines of JSON: send it as application/x-ndjson.'
  ports.fault(fault('invalid-request', text), 'continues', undefined, 415)
  return true
}

/** True when a body of this content type may be one line of JSON: JSON, or `application/x-ndjson`. */
export function isLineType(contentType: string | undefined): boolean {
  return isJsonType(contentType) || /^\s*application\/x-ndjson\s*(;|$)/i.test(contentType!)
}
