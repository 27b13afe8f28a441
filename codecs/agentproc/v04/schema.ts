import * as v from 'valibot'
import { keysOf } from '../../../src/codec-kit/index.ts'
import { type Ext, isRecord, type JsonText, messagePattern, parse } from '../../../src/model/index.ts'
import { unknownExt } from '../ext.ts'
import { versionSchema } from '../versions.ts'

/** A string, or as good as absent. */
const text = v.fallback(v.string(), '')
const optionalText = v.fallback(v.optional(v.string()), undefined)

const resultSchema = v.looseObject({ type: v.literal('result'), text, session_id: optionalText })
const errorSchema = v.looseObject({ type: v.literal('error'), message: text, session_id: optionalText })
const permissionSchema = v.looseObject({
  type: v.literal('permission_request'),
  request_id: text,
  tool_name: text,
  input: v.optional(v.unknown()),
  description: optionalText,
  tool_use_id: optionalText,
  session_id: optionalText,
})
const eventSchema = v.variant('type', [resultSchema, errorSchema, permissionSchema])

/** A piece of the answer. `role` is absent when it is no string. */
export interface PartialEvent {
  type: 'partial'
  text: string
  role?: string
  session_id?: string
}

/** One event of an agent, read from its line. */
export type AgentLine = PartialEvent | v.InferOutput<typeof eventSchema>

/** An event of an agent and the members of its line that have no place in the model. */
export interface ReadLine {
  event: AgentLine
  ext: Ext | undefined
}

/** A `partial` as it is nearly always written. */
const PLAIN_PARTIAL = messagePattern('{"type":"partial","text":*}')

/** Reads an agent's line; undefined when it is no event. */
export function readLine(line: string): ReadLine | undefined {
  const plain = PLAIN_PARTIAL.exec(line)
  if (plain) return { event: { type: 'partial', text: plain[1]! }, ext: undefined }
  const json = unpadded(line)
  const value = parse(json)
  if (!isRecord(value)) return undefined
  if (value['type'] === 'partial') {
    const event = partial(value)
    return { event, ext: unknownExt(json, value, ROLES.has(event.role) ? KNOWN.partial : PARTIAL_BUT_ROLE) }
  }
  const { success, output } = v.safeParse(eventSchema, value)
  return success ? { event: output, ext: unknownExt(json, value, KNOWN[output.type]) } : undefined
}

/** True for a line that begins as an object but is cut off, because its writer was stopped. */
export function isCutOff(line: string): boolean {
  const json = unpadded(line)
  return json.startsWith('{') && parse(json) === undefined
}

/** The hottest event, without a schema. */
function partial({ text, role, session_id }: Record<string, unknown>): PartialEvent {
  return {
    type: 'partial',
    text: typeof text === 'string' ? text : '',
    ...(typeof role === 'string' && { role }),
    ...(typeof session_id === 'string' && { session_id }),
  }
}

/** A line without the JSON white space and byte order marks around it. */
export function unpadded(line: string): string {
  if (line.charCodeAt(0) === 123 && line.endsWith('}')) return line
  return line.replace(/^[ \t\r\n\ufeff]+|(?<![ \t\r\n\ufeff])[ \t\r\n\ufeff]+$/g, '')
}

/** Members with a place in the model, by the type of their event. */
const KNOWN: Readonly<Record<AgentLine['type'], ReadonlySet<string>>> = {
  partial: new Set(['type', 'text', 'role', 'session_id']),
  result: new Set(['type', 'text', 'session_id', 'usage']),
  error: new Set(['type', 'message', 'session_id', 'usage']),
  permission_request: keysOf(permissionSchema),
}

/** Roles with a place in the model; another one is output, and travels along. */
const ROLES: ReadonlySet<string | undefined> = new Set([undefined, 'output', 'thinking'])
const PARTIAL_BUT_ROLE: ReadonlySet<string> = new Set(['type', 'text', 'session_id'])

/** True for a session id that an agent may announce: no path, no control character. */
export function isSessionId(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && !/[/\\\u0000-\u001f\u007f-\u009f]/.test(id)
}

/** An element of a turn's attachments. A kind that is not one of these is taken as a file. */
export const attachmentSchema = v.looseObject({
  kind: v.fallback(v.picklist(['image', 'file', 'audio', 'video', 'other']), 'other'),
  url: v.pipe(v.string(), v.nonEmpty()),
  filename: optionalText,
  mime_type: optionalText,
  size: v.fallback(v.optional(v.pipe(v.number(), v.finite())), undefined),
})

/** The first message of a runner. */
export const turnSchema = v.looseObject({
  type: v.literal('turn'),
  message: v.fallback(v.optional(v.string(), ''), ''),
  session_id: optionalText,
  session_name: optionalText,
  protocol_version: versionSchema,
  permission: v.fallback(v.optional(v.boolean(), false), false),
})

/** A turn as a runner wrote it. */
export type Turn = v.InferOutput<typeof turnSchema>

/** The answer of a runner to a permission request. Anything but `allow` is a denial. */
export const permissionResponseSchema = v.looseObject({
  type: v.literal('permission_response'),
  request_id: v.string(),
  behavior: v.fallback(v.picklist(['allow', 'deny']), 'deny'),
  message: optionalText,
})

/** Members of a turn with a place in the model. */
export const TURN_MEMBERS: ReadonlySet<string> = new Set([...keysOf(turnSchema), 'attachments'])

const NOT_ASCII = /[\u007f-\uffff]/

/** True for a text that no writer of these wires escapes for its characters. */
export function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text)
}

/**
 * JSON text with every character outside ASCII escaped: some readers cut a line's bytes anywhere. Most text has none,
 * which a test finds in half the time of a replacement.
 */
export function ascii(json: JsonText): JsonText {
  if (isAscii(json)) return json
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
