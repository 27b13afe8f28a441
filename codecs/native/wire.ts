import {
  type Ext,
  elements,
  isRecord,
  type JsonText,
  members,
  object,
  oneLine,
  parse,
  quote,
  unquoted,
} from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this protocol travel. */
export const PROTOCOL = 'native'

/** Objects and lists may hold each other this deep; what is deeper is no message. JSON that is carried as text is free. */
const MAX_DEPTH = 14

/** Names of the members that hold JSON text in the model: on the wire they are JSON themselves. */
const RAW: ReadonlySet<string> = new Set([
  'args',
  'json',
  'params',
  'schema',
  'outputSchema',
  'values',
  'edited',
  'data',
  'result',
  'error',
])

/** Members of the same names that are plain strings in the model, by the member that they are in. */
const PLAIN: Readonly<Record<string, string>> = { invocation: 'args', seal: 'data' }

function isRaw(key: string, parent: string): boolean {
  return RAW.has(key) && !(Object.hasOwn(PLAIN, parent) && PLAIN[parent] === key)
}

/**
 * JSON text as it stands in a message, on one line: raw line ends stand only between tokens, and the separators that
 * some readers split lines at only inside strings. Text that is no JSON (arguments that a model broke off) is a string.
 */
export function rawJson(text: JsonText): JsonText {
  if (parse(text) === undefined) return quote(text)
  return oneLine(text.trim())
}

/** A value of the model as JSON; its JSON texts are spliced in as they are. Undefined members are left out. */
export function write(value: unknown, parent = ''): JsonText {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map((held) => write(held, parent)).join(',')}]`
  if (isRecord(value)) return object(Object.entries(value).map(([key, held]) => [key, writeMember(key, held, parent)]))
  return JSON.stringify(value)
}

function writeMember(key: string, held: unknown, parent: string): JsonText | undefined {
  if (held === undefined) return undefined
  return typeof held === 'string' && isRaw(key, parent) ? rawJson(held) : write(held, key)
}

/** A member of a message as the model has it: JSON texts are sliced out as they are. Too deep a value is undefined. */
export function readMember(key: string, json: JsonText): unknown {
  return isRaw(key, '') ? json : read(json, key, MAX_DEPTH)
}

function read(json: JsonText, parent: string, depth: number): unknown {
  if (depth === 0) return undefined
  if (json[0] === '{') {
    return Object.fromEntries(
      members(json).map(([key, raw]) => [key, isRaw(key, parent) ? raw : read(raw, key, depth - 1)]),
    )
  }
  if (json[0] === '[') return elements(json).map((raw) => read(raw, parent, depth - 1))
  return json[0] === '"' ? unquoted(json) : (JSON.parse(json) as unknown)
}

/** Data of a reply that holds messages or questions, as the wire has it: JSON texts in it are JSON. */
export function wireData(data: JsonText): JsonText {
  return write(parse(data))
}

/** The same data as the model has it: JSON texts in it are strings. */
export function modelData(data: JsonText): JsonText {
  return JSON.stringify(read(data, '', MAX_DEPTH))
}

/** True when a value holds a member that its schema did not keep. */
export function holdsMore(given: unknown, kept: unknown): boolean {
  if (Array.isArray(given)) {
    return !Array.isArray(kept) || given.some((held, at) => holdsMore(held, kept[at]))
  }
  if (!isRecord(given)) return false
  return (
    !isRecord(kept) ||
    Object.entries(given).some(([key, held]) => !Object.hasOwn(kept, key) || holdsMore(held, kept[key]))
  )
}

/**
 * A message with the fields that a reader of this protocol did not know and that ride in its `ext`. Its own members
 * stay; only missing ones are added, at any depth. Members named in `own` are never added.
 */
export function extended(line: JsonText, ext: Ext | undefined, own: ReadonlySet<string>): JsonText {
  if (!ext) return line
  if (ext.protocol !== PROTOCOL) {
    return `${line.slice(0, -1)},"ext":${write(ext)}}`
  }
  const extra = members(ext.json).filter(([key]) => !own.has(key))
  return extra.length === 0 ? line : merged(line, object(extra), '')
}

function merged(ours: JsonText, theirs: JsonText, parent: string): JsonText {
  if (ours[0] === '{' && theirs[0] === '{') return mergedObject(ours, theirs, parent)
  if (ours[0] !== '[' || theirs[0] !== '[') return ours
  const [mine, yours] = [elements(ours), elements(theirs)]
  if (mine.length !== yours.length) return ours
  return `[${mine.map((one, at) => merged(one, yours[at]!, parent)).join(',')}]`
}

function mergedObject(ours: JsonText, theirs: JsonText, parent: string): JsonText {
  const all = new Map(members(ours))
  for (const [key, raw] of members(theirs)) {
    const own = all.get(key)
    if (own === undefined) all.set(key, oneLine(raw))
    else if (!isRaw(key, parent)) all.set(key, merged(own, raw, key))
  }
  return object(all)
}
