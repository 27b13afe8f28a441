/**
 * Raw JSON text, sliced and spliced without parsing and writing it again, so that digits, exponents, key order,
 * `__proto__` and unknown members survive. Every function here expects text that `JSON.parse` has accepted.
 */

/** JSON as text. It is carried as it came: never parsed and written again. */
export type JsonText = string

/** One member of an object: its decoded key and the raw text of its value. */
export type Member = readonly [key: string, json: JsonText]

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58

/** Index behind the string that begins at `start` (the opening quote). */
function stringEnd(json: JsonText, start: number): number {
  let at = start + 1
  while (json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

/** `{` and `[` open, `}` and `]` close: their codes differ in one bit from each other. */
function depthChange(code: number): number {
  if (code === 123 || code === 91) return 1
  if (code === 125 || code === 93) return -1
  return 0
}

/** Index of the comma or closing bracket that ends the value beginning at `start`. */
function valueEnd(json: JsonText, start: number): number {
  let depth = 0
  let at = start
  for (;;) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      at = stringEnd(json, at)
      continue
    }
    if (depth === 0 && (code === COMMA || code === 125 || code === 93)) return at
    depth += depthChange(code)
    at += 1
  }
}

/** The members of a JSON object in order, duplicates included. Text that is not an object gives none. */
export function members(json: JsonText): Member[] {
  const found: Member[] = []
  const open = json.search(/[^ \t\r\n\ufeff]/)
  if (open < 0 || json[open] !== '{') return found
  let at = open + 1
  for (;;) {
    while (json.charCodeAt(at) !== QUOTE) {
      if (json[at] === '}' || at >= json.length) return found
      at += 1
    }
    const keyEnd = stringEnd(json, at)
    const key = JSON.parse(json.slice(at, keyEnd)) as string
    at = keyEnd
    while (json.charCodeAt(at) !== COLON) at += 1
    const end = valueEnd(json, at + 1)
    found.push([key, json.slice(at + 1, end).trim()])
    if (json[end] === '}') return found
    at = end + 1
  }
}

/** The raw value of `key` in a JSON object (the last one, as `JSON.parse` has it), or undefined. */
export function member(json: JsonText, key: string): JsonText | undefined {
  let value: JsonText | undefined
  for (const [name, raw] of members(json)) if (name === key) value = raw
  return value
}

/** The raw elements of a JSON array in order. Text that is not an array gives none. */
export function elements(json: JsonText): JsonText[] {
  const found: JsonText[] = []
  const open = json.search(/[^ \t\r\n\ufeff]/)
  if (open < 0 || json[open] !== '[') return found
  let at = open + 1
  for (;;) {
    const end = valueEnd(json, at)
    const raw = json.slice(at, end).trim()
    if (raw !== '') found.push(raw)
    if (json[end] === ']') return found
    at = end + 1
  }
}

/** A JSON object from members whose values are raw JSON; members with an undefined value are left out. */
export function object(entries: Iterable<readonly [string, JsonText | undefined]>): JsonText {
  let json = ''
  for (const [key, value] of entries) {
    if (value !== undefined) json += `${json === '' ? '' : ','}${quote(key)}:${value}`
  }
  return `{${json}}`
}

/** The members of an object whose keys are not in `known`, as one object; undefined when there are none. */
export function rest(json: JsonText, known: ReadonlySet<string>): JsonText | undefined {
  const unknown = members(json).filter(([key]) => !known.has(key))
  return unknown.length === 0 ? undefined : object(unknown)
}

/** The members of the object `extra` spliced behind those of `json` (both objects). */
export function append(json: JsonText, extra: JsonText | undefined): JsonText {
  if (extra === undefined) return json
  const inner = extra.trim().slice(1, -1).trim()
  if (inner === '') return json
  const head = json.trim().slice(0, -1).trimEnd()
  return `${head}${head.endsWith('{') ? '' : ','}${inner}}`
}

/**
 * A string as JSON that is safe on every line protocol: U+2028, U+2029 and U+0085 are escaped, because some readers
 * split lines at them; lone surrogates are escaped by JSON.stringify itself.
 */
export function quote(text: string): JsonText {
  const json = JSON.stringify(text)
  return /[\u2028\u2029\u0085]/.test(json) ? json.replace(/[\u2028\u2029\u0085]/g, escapeUnit) : json
}

/** Like `quote`, with every character outside ASCII escaped. */
export function quoteAscii(text: string): JsonText {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeUnit)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** What `JSON.parse` makes of the text, or undefined when it is not JSON. Never throws. */
export function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}

/** The parsed text when it is a JSON object (no array, no null), else undefined. Never throws. */
export function parseObject(json: string): Record<string, unknown> | undefined {
  const value = parse(json)
  return isRecord(value) ? value : undefined
}

/** True for what JSON calls an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
