import { extensions } from '../../src/codec-kit/index.ts'
import { type Ext, type Invocation, type JsonText, rest } from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this dialect travel. */
export const PROTOCOL = 'qwen'

/** The version of the protocol that this implementation speaks. */
export const PROTOCOL_VERSION = '1.0'

/** The values of `--input-format` and `--output-format`. */
export const FORMATS = ['text', 'stream-json', 'stream-chunk-json'] as const
export type Format = (typeof FORMATS)[number]

/** A `session_id` that asks for a new session. */
export const NEW_SESSION = '_new'

/** The separator of two messages in the one text of a chunked answer: the content of a piece that names the role again. */
export const MESSAGE_GAP = '\n\n'

/** Members that decide what a line is, and those that writers splice into an inner object. */
const RESERVED: ReadonlySet<string> = new Set(['type', 'object', 'error', 'message', 'delta', 'choice'])

export const { ownExt, ownMember, entriesExt, unknownExt } = extensions(PROTOCOL)

/** Returns the fields of an `ext` of this dialect that may follow the members of any message. */
export function addedMembers(ext: Ext | undefined): JsonText | undefined {
  const own = ownExt(ext)
  return own === undefined ? undefined : rest(own, RESERVED)
}

/** Returns the fields of what a completion or a chunk says, for a line of either kind. */
export function saidMembers(ext: Ext | undefined): JsonText | undefined {
  return ownMember(ext, 'message') ?? ownMember(ext, 'delta')
}

/** The id of a session's turn. `turn` counts from 1. */
export function promptId(session: string, turn: number): string {
  return `${session}########${turn}`
}

/** A command as requests and answers declare it. */
export function commandJson({ kind, path, args }: Invocation): JsonText {
  return JSON.stringify({ kind, path, args })
}

/** Seconds since the epoch from milliseconds. */
export function seconds(ms: number): JsonText {
  return String(Math.floor(ms / 1000))
}

/** The JSON text of a string that holds JSON text of an object, or of one that is an object already. */
export function objectText(json: JsonText | undefined): JsonText | undefined {
  if (json?.startsWith('{')) return json
  if (!json?.startsWith('"')) return undefined
  const inner = JSON.parse(json) as string
  return inner.trimStart().startsWith('{') ? inner : undefined
}
