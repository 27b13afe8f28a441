import { isPlain, type JsonText, stringEnd, unescaped } from '../model/index.ts'

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

  /** `before` ends with the quote that begins the text, `after` begins with the one that ends it. */
  constructor(before: string, after: string, changing: RegExp | undefined) {
    const pieces = (text: string): string[] => (changing ? text.split(changing) : [text])
    const first = pieces(before)
    this.#before = first.length - 1
    const rest = pieces(after.replace(/ *\}$/, ''))
    this.#fixed = [...first, ...rest]
    if (rest.length === 1) this.#tail = `${rest[0]}}`
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
