/** Removes secrets from logs: by the name of a field, by patterns in a text, and by the secrets' own values. */

import { secretForms } from '../src/model/index.ts'

/** The replacement of a secret. */
export const REDACTED = '[redacted]'

/** Cleans values for the log. Neither function throws or changes its argument. */
export interface Redactor {
  /** The text without secrets. */
  whole(text: string): string
  /** The same, not longer than a field of the log may be. */
  text(text: string): string
  /** A copy of any value that is safe to log: without secrets, of bounded depth, width and length, without cycles. */
  value(value: unknown): unknown
}

/** Keys whose values are secret, whatever their type. */
const SECRET_KEY = /authorization|cookie|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key/i
/** Keys whose text values are secret; numbers are not, because `input_tokens` is a count. */
const TOKEN_KEY = /token/i

/** Patterns of secrets within a text. The first group is kept. */
const SHAPES: readonly RegExp[] = [
  /\b((?:Bearer|Basic)\s{1,3})[\w.~+/=-]{16}[\w.~+/=-]*/gi,
  /\b((?:authorization|cookie|x-api-key):\s{0,3})[^\r\n"]+/gi,
  /(:\/\/)[^\s/@"']{1,512}(?=@)/g,
  /((?:token|secret|passw(?:or)?d|api[-_]?key)=)[^\s"'&;,]+/gi,
  /((?:token|secret|passw(?:or)?d|api[-_]?key|authorization|cookie)"\s{0,3}:\s{0,3}")(?!")[\s\S]*?(?="(?<!(?<!\\)(?:\\\\)*\\")|$)/gi,
]

/** The shortest value to replace: shorter ones would occur in every text. */
const MIN_SECRET = 4
const MAX_DEPTH = 8
const MAX_ITEMS = 100
const MAX_TEXT = 16_384

/** A redactor that also replaces the given secret values (of 4 characters and more) anywhere in a string. */
export function redactor(values: readonly string[] = []): Redactor {
  const known = valuePattern(values)
  const whole = (raw: string): string => {
    let clean = known ? raw.replace(known, REDACTED) : raw
    for (const shape of SHAPES) clean = clean.replace(shape, `$1${REDACTED}`)
    return clean
  }
  const text = (raw: string): string => {
    const clean = whole(raw)
    // Cut last: a part of a cut secret would not be recognised.
    return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}… (${clean.length - MAX_TEXT} more)` : clean
  }
  return { whole, text, value: (value) => new Walk(text).copy(value, 'open', 0) }
}

/** One pattern for all values, also as encoded in URLs and JSON, longest first; undefined without any. */
function valuePattern(values: readonly string[]): RegExp | undefined {
  const forms = new Set<string>()
  for (const value of values) {
    if (value.length < MIN_SECRET) continue
    for (const form of secretForms(value)) forms.add(form)
    forms.add(Buffer.from(value).toString('base64'))
  }
  if (forms.size === 0) return undefined
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  return new RegExp(longestFirst.map(escapePattern).join('|'), 'g')
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** The effect of the key above a value: none, text is secret, or everything is secret. */
type Cover = 'open' | 'text' | 'all'

function coverOf(key: string, above: Cover): Cover {
  if (above === 'all' || SECRET_KEY.test(key)) return 'all'
  return above === 'text' || TOKEN_KEY.test(key) ? 'text' : 'open'
}

/** One copy of one value; remembers the objects above the current one, to see cycles. */
class Walk {
  readonly #above = new Set<object>()
  readonly #text: (text: string) => string

  constructor(text: (text: string) => string) {
    this.#text = text
  }

  copy(value: unknown, cover: Cover, depth: number): unknown {
    if (value === null || value === undefined) return value
    if (cover === 'all' && typeof value !== 'object') return REDACTED
    if (typeof value === 'string') return cover === 'open' ? this.#text(value) : REDACTED
    if (typeof value === 'bigint') return String(value)
    if (typeof value !== 'object') return typeof value === 'number' || typeof value === 'boolean' ? value : undefined
    if (this.#above.has(value)) return '[circular]'
    if (depth >= MAX_DEPTH) return '[deep]'
    this.#above.add(value)
    try {
      return this.#object(value, cover, depth + 1)
    } catch {
      return '[unreadable]'
    } finally {
      this.#above.delete(value)
    }
  }

  #object(value: object, cover: Cover, depth: number): unknown {
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (value instanceof Error) return this.#members(errorMembers(value), cover, depth)
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.copy(value.toJSON(), cover, depth)
    if (!Array.isArray(value)) return this.#members(Object.entries(value), cover, depth)
    const items = value.slice(0, MAX_ITEMS).map((item) => this.copy(item, cover, depth))
    if (value.length > MAX_ITEMS) items.push(`… (${value.length - MAX_ITEMS} more)`)
    return items
  }

  #members(entries: readonly [string, unknown][], cover: Cover, depth: number): unknown {
    const copied = entries
      .slice(0, MAX_ITEMS)
      .map(([key, value]) => [this.#text(key), this.copy(value, coverOf(key, cover), depth)])
    if (entries.length > MAX_ITEMS) copied.push(['…', `${entries.length - MAX_ITEMS} more`])
    return Object.fromEntries(copied)
  }
}

/** The relevant fields of an error, own ones included; `stack` begins with its name and message. */
function errorMembers(error: Error): [string, unknown][] {
  const { name, message, stack, cause } = error
  const base: [string, unknown][] = [
    ['name', name],
    ['message', message],
    ['stack', stack],
  ]
  if (cause !== undefined) base.push(['cause', cause])
  const taken = new Set(['name', 'message', 'stack', 'cause'])
  return [...base, ...Object.entries(error).filter(([key]) => !taken.has(key))]
}
