import type { FrameRun } from '../../../../src/contract/index.ts'
import {
  append,
  type Ext,
  type JsonText,
  type Members,
  object,
  quote,
  quoteAscii,
  type TextRun,
} from '../../../../src/model/index.ts'
import { ownExt } from '../../ext.ts'
import { ascii, isAscii } from '../schema.ts'

/** Members that lines share: the session id, and an `ext` of this wire. */
export interface Shared {
  session: string | undefined
  ext: Ext | undefined
}

/** A piece of the answer, or of the thinking before it. */
export function partialLine(text: string, role: 'thinking' | undefined, { session, ext }: Shared): JsonText {
  let json = `{"type":"partial","text":${quoteAscii(text)}`
  if (role !== undefined) json += ',"role":"thinking"'
  if (session !== undefined) json += `,"session_id":${quoteAscii(session)}`
  json += '}'
  return ext === undefined ? json : ascii(append(json, ownExt(ext)))
}

/** Pieces of the answer from this one on. */
export function partialLines({ inner, text }: TextRun, from: number): FrameRun {
  const pieces = inner.slice(from)
  return { before: '{"type":"partial","text":"', pieces: isAscii(text) ? pieces : pieces.map(ascii), after: '"}' }
}

/** An error, which ends the turn. */
export function errorLine(message: string, usage: JsonText | undefined, shared: Shared): JsonText {
  return line('error', { message: quote(message) }, usage, shared)
}

/** Any other event. */
export function line(type: string, members: Members, usage: JsonText | undefined, { session, ext }: Shared): JsonText {
  const json = object({ type: quote(type), ...members, session_id: quote(session), usage })
  return ascii(append(json, ownExt(ext)))
}
