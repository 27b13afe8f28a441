import * as v from 'valibot'
import { parse } from '../../../src/model/index.ts'

/** The prefix of a line that is a piece of the answer. */
export const PARTIAL = 'AGENT_PARTIAL:'
/** The prefix of a line that is an error for the user. */
export const ERROR = 'AGENT_ERROR:'
/** The prefix of a line that names the session. */
export const SESSION = 'AGENT_SESSION:'

/** The kind of a line of an agent's stdout, with its decoded value; a body line is its own value. */
export interface Line {
  kind: 'session' | 'partial' | 'error' | 'body'
  value: string
}

/**
 * Classifies one line (without its line end) by the prefix it begins with, in the order of the text.
 * `sessionPrefix` is the profile's `session_line_prefix`.
 */
export function classify(line: string, sessionPrefix: string = SESSION): Line {
  if (line.startsWith(sessionPrefix)) return { kind: 'session', value: line.slice(sessionPrefix.length).trim() }
  if (line.startsWith(PARTIAL)) return { kind: 'partial', value: payload(line.slice(PARTIAL.length)) }
  if (line.startsWith(ERROR)) return { kind: 'error', value: payload(line.slice(ERROR.length)) }
  return { kind: 'body', value: line }
}

/** A payload is a JSON string; anything else, other JSON included, stands for itself. */
function payload(text: string): string {
  const stripped = text.trim()
  const value = parse(stripped)
  return typeof value === 'string' ? value : stripped
}

/** True for a session id that an agent may announce. */
export function isSessionId(id: string): boolean {
  return /^[A-Za-z0-9._~=-]+$/.test(id)
}

/** An element of AGENT_ATTACHMENTS. A type that is not one of the four is taken as a file. */
export const attachmentSchema = v.looseObject({
  type: v.fallback(v.picklist(['image', 'file', 'audio', 'video']), 'file'),
  url: v.pipe(v.string(), v.nonEmpty()),
  name: v.fallback(v.string(), ''),
})

/** One attachment as AGENT_ATTACHMENTS lists it. */
export type Attachment = v.InferOutput<typeof attachmentSchema>
