import type { WireText } from '../contract/index.ts'
import { hasLineEnd, isPlain, type JsonText, stringEnd, unescaped } from '../model/index.ts'

const QUOTE = 34
const SPACE = 32
const ZERO = 48
const NINE = 57
const NOT_PLAIN = /[\\\u0000-\u001f]/

/** Finds the values of these members, numbers and strings, where they stand in a message. */
export function valuesOf(...names: readonly string[]): RegExp {
  return new RegExp(`(?<="(?:${names.join('|')})": ?)(?:\\d+|"[^"\\\\]*")`)
}

/** The text around the text of a delta, without values that may be different in each delta. */
export class DeltaShape {
  /** The text between those values. */
  readonly #fixed: readonly string[]
  /** The index of the one before the text of a delta. */
  readonly #before: number
  /** The text after that, where nothing in it changes. */
  readonly #tail: string | undefined
  /** None of it has a line end, which a wire may write in another way. */
  readonly #isOneLine: boolean
  /** The text between those values on the wire that was read last. */
  #wire: { before: string; after: string; fixed: readonly string[] } | undefined

  /** `before` ends with the quote that begins the text, `after` begins with the one that ends it. */
  constructor(before: string, after: string, changing: RegExp | undefined) {
    const pieces = (text: string): string[] => (changing ? text.split(changing) : [text])
    const first = pieces(before)
    this.#before = first.length - 1
    const rest = pieces(after.replace(/(?<! ) *\}$/, ''))
    this.#fixed = [...first, ...rest]
    if (rest.length === 1) this.#tail = `${rest[0]}}`
    this.#isOneLine = !hasLineEnd(this.#fixed.join(''))
  }

  /** The text of a delta of this shape; undefined for a message of another one, and for an empty text. */
  textIn(message: JsonText): string | undefined {
    const fixed = this.#fixed
    const last = fixed.length - 1
    let text = ''
    let at = 0
    for (let index = 0; index < last; index += 1) {
      const end = at + fixed[index]!.length
      // Comparing a slice is many times faster than `startsWith`, unless that is given a constant.
      if (message.slice(at, end) !== fixed[index]) return undefined
      if (index !== this.#before) {
        at = valueEnd(message, end)
        continue
      }
      const plain = this.#plainText(message, end)
      if (plain !== undefined) return plain
      at = stringEnd(message, end - 1) - 1
      text = message.slice(end, at)
    }
    return text !== '' && endsWith(message, at, fixed[last]!) ? unescaped(text) : undefined
  }

  /** The texts of the deltas of this shape that stand in a row on a wire. Moves its place to their end. */
  textsIn(wire: WireText): string[] {
    if (!this.#isOneLine) return []
    const fixed = this.#fixedIn(wire)
    if (wire.text.slice(wire.at, wire.at + fixed[0]!.length) !== fixed[0]) return []
    return (fixed.length === 2 && split(wire, fixed[0], fixed[1]!)) || this.#scan(wire, fixed)
  }

  /** The same, delta by delta; `most` of them. */
  #scan(wire: WireText, fixed: readonly string[], most = Number.POSITIVE_INFINITY): string[] {
    const start = wire.at
    const texts: string[] = []
    while (texts.length < most) {
      const text = this.#next(wire, fixed)
      if (text === '') break
      texts.push(text)
    }
    if (isPlain(texts.join(''))) return texts
    for (const [at, raw] of texts.entries()) {
      const text = unescaped(raw)
      if (text === undefined) {
        wire.at = start
        return this.#scan(wire, fixed, at)
      }
      texts[at] = text
    }
    return texts
  }

  /** The text of the next delta as it stands in its string, which may be none. Moves the place behind it; '' for no delta. */
  #next(wire: WireText, fixed: readonly string[]): string {
    const { text } = wire
    const last = fixed.length - 1
    let at = wire.at
    let piece = ''
    for (let index = 0; index <= last; index += 1) {
      const end = at + fixed[index]!.length
      if (text.slice(at, end) !== fixed[index]) return ''
      if (index === last) at = end
      else if (index !== this.#before) at = valueEnd(text, end)
      else {
        at = stringEnd(text, end - 1) - 1
        piece = text.slice(end, at)
      }
    }
    if (piece !== '') wire.at = at
    return piece
  }

  /** The text between those values and the text, on a wire. */
  #fixedIn({ before, after }: WireText): readonly string[] {
    if (this.#wire?.before === before && this.#wire.after === after) return this.#wire.fixed
    const fixed = [...this.#fixed]
    fixed[0] = `${before}${fixed[0]}`
    fixed[fixed.length - 1] += `}${after}`
    this.#wire = { before, after, fixed }
    return fixed
  }

  /** The text from here on if it is plain and the message ends as this shape does: nearly always. */
  #plainText(message: JsonText, start: number): string | undefined {
    const tail = this.#tail
    if (tail === undefined) return undefined
    const end = message.length - tail.length
    if (message.slice(end) !== tail) return undefined
    const text = message.slice(start, end)
    return text !== '' && isPlain(text) ? text : undefined
  }
}

/** Index after a number or a plain string; the end of the message for anything else, where nothing can follow. */
function valueEnd(message: JsonText, start: number): number {
  const first = message.charCodeAt(start)
  if (first === QUOTE) {
    const end = stringEnd(message, start)
    return NOT_PLAIN.test(message.slice(start, end)) ? message.length : end
  }
  if (!isDigit(first)) return message.length
  let end = start + 1
  // No number has a digit after a leading zero.
  if (first !== ZERO) while (isDigit(message.charCodeAt(end))) end += 1
  return end
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** True when a message ends with this text from here on and a closing brace, which spaces may stand before. */
function endsWith(message: JsonText, start: number, text: string): boolean {
  let at = start + text.length
  if (message.slice(start, at) !== text) return false
  while (message.charCodeAt(at) === SPACE) at += 1
  return at === message.length - 1 && message.endsWith('}')
}

/**
 * The texts between `head` and `tail` that stand in a row on a wire, of which the first begins here. Undefined when one is
 * empty or needs escapes, or when others stand between.
 */
function split(wire: WireText, head: string, tail: string): string[] | undefined {
  const texts = wire.text.slice(wire.at + head.length).split(`${tail}${head}`)
  const last = texts.pop()!
  const end = last.indexOf(tail)
  // The last one may not be complete.
  if (end >= 0) texts.push(last.slice(0, end))
  const all = texts.join('')
  if (!isPlain(all) || texts.includes('')) return undefined
  wire.at += texts.length * (head.length + tail.length) + all.length
  return texts
}
