import { type Ext, type JsonText, member, members, object, oneLine, rest } from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this dialect travel. */
export const PROTOCOL = 'qwen'

/** The version of the protocol that this implementation speaks. */
export const PROTOCOL_VERSION = '1.0'

/** The values of `--input-format` and `--output-format`. */
export const FORMATS = ['text', 'stream-json', 'stream-chunk-json'] as const
export type Format = (typeof FORMATS)[number]

/** A `session_id` that asks for a new session. */
export const NEW_SESSION = '_new'

/** What parts two messages in the one text of a chunked answer: the content of a piece that names the role again. */
export const MESSAGE_GAP = '\n\n'

/** One member of a message to write; an undefined value leaves it out. */
export type Entry = readonly [key: string, json: JsonText | undefined]

/** Members that decide what a line is, and those that writers splice into an inner object. */
const RESERVED: ReadonlySet<string> = new Set(['type', 'object', 'error', 'message', 'delta'])

/** A message as one line. Unknown fields of this dialect go behind the known ones and never replace one. */
export function messageLine(entries: readonly Entry[], ext?: Ext): string {
  if (ext?.protocol !== PROTOCOL) return oneLine(object(entries))
  const taken = new Set(entries.flatMap(([key, json]) => (json === undefined ? [] : key)))
  const extra = members(ext.json).filter(([key]) => !taken.has(key) && !RESERVED.has(key))
  return oneLine(object([...entries, ...extra]))
}

/** What an `ext` of this dialect holds under a key, raw. */
export function extMember(ext: Ext | undefined, key: string): JsonText | undefined {
  return ext?.protocol === PROTOCOL ? member(ext.json, key) : undefined
}

/** Unknown members of a message as `ext`; undefined when there are none. `value` is the parsed `json`. */
export function extOf(json: JsonText, value: object, known: ReadonlySet<string>): Ext | undefined {
  for (const key in value) if (!known.has(key)) return { protocol: PROTOCOL, json: rest(json, known)! }
  return undefined
}

/** Members as `ext`; undefined when none has a value. */
export function extFrom(entries: readonly Entry[]): Ext | undefined {
  const set = entries.filter(([, json]) => json !== undefined)
  return set.length === 0 ? undefined : { protocol: PROTOCOL, json: object(set) }
}

/** The id of a session's turn. `turn` counts from 1. */
export function promptId(session: string, turn: number): string {
  return `${session}########${turn}`
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
