/**
 * Raw JSON text, sliced and spliced without parsing and serializing it again, so that digits, exponents, key order,
 * `__proto__` and unknown members survive. Every function here expects text that `JSON.parse` has accepted. On any other text
 * it ends all the same, with a result that means nothing.
 */

/** JSON as text. It is carried unchanged: never parsed and serialized again. */
export type JsonText = string

/** One member of an object: its decoded key and the raw text of its value. */
export type Member = readonly [key: string, json: JsonText]

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
/** The code of `}`. An index into a text is much slower where it is outside of it. */
const CLOSED = 125

/**
 * Index after the string that begins at `start` (the opening quote). Long strings are searched, not scanned by
 * character.
 */
export function stringEnd(json: JsonText, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end < 0 ? json.length : end + 1
}

/** True when an odd number of backslashes stands before a quote. */
function isEscaped(json: JsonText, quoteAt: number): boolean {
  let first = quoteAt
  while (json.charCodeAt(first - 1) === BACKSLASH) first -= 1
  return (quoteAt - first) % 2 === 1
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
    if (at >= json.length) return at
    depth += depthChange(code)
    at += 1
  }
}

/** Visits the members of a JSON object in order: each key, and the start and end of its value. */
function walk(json: JsonText, see: (key: string, start: number, end: number) => void): void {
  let at = opening(json, '{')
  if (at < 0) return
  for (;;) {
    while (json.charCodeAt(at) !== QUOTE) {
      if (json.charCodeAt(at) === CLOSED || at >= json.length) return
      at += 1
    }
    const keyEnd = stringEnd(json, at)
    const key = unquoted(json.slice(at, keyEnd))
    at = keyEnd
    while (json.charCodeAt(at) !== COLON) {
      if (at >= json.length) return
      at += 1
    }
    const end = valueEnd(json, at + 1)
    see(key, at + 1, end)
    if (json.charCodeAt(end) === CLOSED) return
    at = end + 1
  }
}

/** The text of a JSON string. A text in quotes that is no JSON string is taken as it is, without its quotes. */
export function unquoted(json: JsonText): string {
  const inner = json.slice(1, -1)
  if (!inner.includes('\\')) return inner
  const said = parse(json)
  return typeof said === 'string' ? said : inner
}

/** Characters that stand in no JSON string as they are. */
const ESCAPED = /[\\\u0000-\u001f]/

/** The text that was found last to need no escapes: a piece of an answer is read, and then quoted. */
let plain = ''

/** The shortest end of a text that is worth comparing with the text that was found plain last. */
const LONG = 256

/** True when a piece of an answer is the same in a JSON string: nothing in it is escaped. */
export function isPlain(text: string): boolean {
  // Pieces that are read together follow a first one: only that is looked through when all are written.
  const before = text.length - plain.length
  const isKnown = plain.length >= LONG && before >= 0 && text.slice(before) === plain
  if (!PLAIN.test(isKnown ? text.slice(0, before) : text)) return false
  plain = text
  return true
}

/** The text of a JSON string, given without its quotes; undefined when it is none. For pieces of an answer. */
export function unescaped(inner: string): string | undefined {
  return isPlain(inner) || !ESCAPED.test(inner) ? inner : (parse(`"${inner}"`) as string | undefined)
}

/** Index after the bracket that the text begins with, or -1 when it begins with something else. */
function opening(json: JsonText, bracket: '{' | '['): number {
  if (json.startsWith(bracket)) return 1
  const at = json.search(/[^ \t\r\n\ufeff]/)
  return json.startsWith(bracket, at) ? at + 1 : -1
}

/** The members of a JSON object in order, duplicates included. Text that is not an object gives none. */
export function members(json: JsonText): Member[] {
  const found: Member[] = []
  walk(json, (key, start, end) => found.push([key, json.slice(start, end).trim()]))
  return found
}

/** The raw value of `key` in a JSON object (the last one, as `JSON.parse` has it), or undefined. */
export function member(json: JsonText, key: string): JsonText | undefined {
  // Most members that are looked for are not there, and a search takes a tenth of the walk.
  if (!json.includes(`"${key}"`) && !json.includes('\\')) return undefined
  let [from, to] = [-1, -1]
  walk(json, (name, start, end) => {
    if (name === key) [from, to] = [start, end]
  })
  return from < 0 ? undefined : json.slice(from, to).trim()
}

/** The raw elements of a JSON array in order. Text that is not an array gives none. */
export function elements(json: JsonText): JsonText[] {
  const found: JsonText[] = []
  let at = opening(json, '[')
  if (at < 0) return found
  for (;;) {
    const end = valueEnd(json, at)
    const raw = json.slice(at, end).trim()
    if (raw !== '') found.push(raw)
    if (json.charCodeAt(end) === 93 || end >= json.length) return found
    at = end + 1
  }
}

/** The members of an object to write, as raw JSON; an undefined one is left out. */
export type Members = Readonly<Record<string, JsonText | undefined>>

/** The same in pairs, for members whose names are not known beforehand. */
export type Pairs =
  | readonly (readonly [key: string, json: JsonText | undefined])[]
  | ReadonlyMap<string, JsonText | undefined>

/** The members as pairs. */
export function pairsOf(members: Members | Pairs): Pairs {
  return isPairs(members) ? members : Object.entries(members)
}

function isPairs(members: object): members is Pairs {
  return Array.isArray(members) || members instanceof Map
}

/** A JSON object of these members, one group after the other. */
export function object(...groups: readonly (Members | Pairs)[]): JsonText {
  let json = ''
  for (const group of groups) {
    if (isPairs(group)) for (const [key, value] of group) json = added(json, key, value)
    else for (const key in group) json = added(json, key, group[key])
  }
  return `{${json}}`
}

function added(json: string, key: string, value: JsonText | undefined): string {
  if (value === undefined) return json
  return `${json}${json === '' ? '' : ','}${quote(key)}:${value}`
}

/** The members of an object whose keys are not in `known`, as one object; undefined when there are none. */
export function rest(json: JsonText, known: ReadonlySet<string>): JsonText | undefined {
  const unknown = members(json).filter(([key]) => !known.has(key))
  return unknown.length === 0 ? undefined : object(unknown)
}

/** The members of the object `extra` appended to those of `json` (both objects). */
export function append(json: JsonText, extra: JsonText | undefined): JsonText {
  if (extra === undefined) return json
  const inner = extra.trim().slice(1, -1).trim()
  if (inner === '') return json
  const head = json.trim().slice(0, -1).trimEnd()
  return `${head}${head.endsWith('{') ? '' : ','}${inner}}`
}

/**
 * Text without a character that `quote` must not copy as it is; JSON.stringify decides about surrogates. It takes two thirds
 * of the time of a search for such a character.
 */
const PLAIN = /^[^\u0000-\u001f"\\\u0085\u2028\u2029\ud800-\udfff]*$/

/** The members of the object `json`, with those of the object `changes` in place of equal ones. */
export function overlaid(json: JsonText, changes: JsonText): JsonText {
  return append(rest(json, new Set(members(changes).map(([key]) => key))) ?? '{}', changes)
}

/** A text if it is JSON, else as a JSON string. A model may write arguments of a call that are none, such as a patch. */
export function asJson(text: string): JsonText {
  return parse(text) === undefined ? quote(text) : text
}

/**
 * A string as JSON that is safe on every line protocol: U+2028, U+2029 and U+0085 are escaped, because some readers
 * split lines at them; lone surrogates are escaped by JSON.stringify itself. Most text needs neither and is only put
 * between quotes, in half the time of JSON.stringify and a search for separators. Undefined stays undefined.
 */
export function quote(text: string): JsonText
export function quote(text: string | undefined): JsonText | undefined
export function quote(text: string | undefined): JsonText | undefined {
  if (text === undefined) return undefined
  if (text === plain || PLAIN.test(text)) return `"${text}"`
  return escapeSeparators(JSON.stringify(text))
}

/**
 * JSON text that no line reader splits: raw line ends stand only between tokens and become spaces, the separators that
 * some readers split at stand only within strings and are escaped.
 */
export function oneLine(json: JsonText): JsonText {
  return escapeSeparators(hasLineEnd(json) ? json.replace(/[\n\r]/g, ' ') : json)
}

/**
 * True when there is a CR or an LF in the text. A search for one character is many times faster than a regular
 * expression.
 */
export function hasLineEnd(text: string): boolean {
  return text.includes('\n') || text.includes('\r')
}

function escapeSeparators(json: JsonText): JsonText {
  const has = json.includes('\u0085') || json.includes('\u2028') || json.includes('\u2029')
  return has ? json.replace(/[\u0085\u2028\u2029]/g, escapeUnit) : json
}

/** Text that is quoted without escapes, of ASCII alone. */
const PLAIN_ASCII = /^[ !#-[\]-~]*$/

/** Like `quote`, with every character outside ASCII escaped. */
export function quoteAscii(text: string): JsonText {
  if (PLAIN_ASCII.test(text)) return `"${text}"`
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeUnit)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * A regular expression for frequent messages of one shape, which reads them in a third of the time of parsing. In the
 * shape, `*` is a string without escapes, captured without its quotes; `#` is a whole number; `[…]` is optional. A
 * space may follow a comma or a colon. Text that matches is JSON with exactly these members; text that does not match
 * may still be JSON with the same meaning.
 */
export function messagePattern(shape: string): RegExp {
  const pattern = shape
    .replace(/[{}]/g, '\\$&')
    .replace(/[,:]/g, '$& ?')
    .replaceAll('[', '(?:')
    .replaceAll(']', ')?')
    .replaceAll('*', '"([^"\\\\\\u0000-\\u001f]*)"')
    .replaceAll('#', '(?:0|[1-9][0-9]*)')
  return new RegExp(`^${pattern}$`)
}

/** The value that `JSON.parse` gives for the text, or undefined when it is not JSON. Never throws. */
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

/** True for a JSON object: not an array, not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
