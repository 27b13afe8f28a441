import { type JsonText, quote, quoteAscii, stringEnd, unquoted } from './json.ts'

/** The forms in which a secret stands in a text: as it is, within JSON with either way of escaping, and within a URL. */
export function secretForms(secret: string): readonly string[] {
  const inUrl = secret.isWellFormed() ? [encodeURIComponent(secret)] : []
  return [
    ...new Set([secret, inner(JSON.stringify(secret)), inner(quote(secret)), inner(quoteAscii(secret)), ...inUrl]),
  ]
}

/** The JSON with `clean` applied to every string, keys too. A number that it changes becomes a string: what comes out is JSON. */
export function cleanJson(json: JsonText, clean: (text: string) => string): JsonText {
  let cleaned = ''
  let at = 0
  for (;;) {
    const start = json.indexOf('"', at)
    cleaned += withCleanNumbers(start < 0 ? json.slice(at) : json.slice(at, start), clean)
    if (start < 0) return cleaned
    at = stringEnd(json, start)
    const raw = json.slice(start, at)
    const text = unquoted(raw)
    const changed = clean(text)
    cleaned += changed === text ? raw : quote(changed)
  }
}

function withCleanNumbers(json: JsonText, clean: (text: string) => string): JsonText {
  return json.replace(/-?\d[\d.eE+-]*/g, (number) => {
    const changed = clean(number)
    return changed === number ? number : quote(changed)
  })
}

/** A JSON string without its quotes. */
function inner(json: JsonText): string {
  return json.slice(1, -1)
}

/** The longest word, in UTF-16 units, that a cut leaves out whole. */
const WORD = 256

/** The beginning of a text, of at most `length` UTF-16 units, without the word that the cut goes through: nobody would recognise a part of a secret. */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text
  const from = Math.max(0, length - WORD)
  return text.slice(0, from + Math.max(0, text.slice(from, length).search(/\s\S*$/)))
}

/** The end of a text, as `beginningOf` its beginning. */
export function endOf(text: string, length: number): string {
  if (text.length <= length) return text
  const from = text.length - length
  const word = /^\S*\s/.exec(text.slice(from, from + WORD))
  return text.slice(from + (word ? word[0].length - 1 : Math.min(WORD, length)))
}
