import { type JsonText, parse, stringEnd } from './json.ts'

/** An object or array that is still open. `key` waits for its value. */
interface Open {
  bracket: '{' | '['
  items: { key: string; text: string }[]
  key: string | undefined
}

const BETWEEN: ReadonlySet<string | undefined> = new Set([' ', '\t', '\r', '\n', ',', ':'])
const SCALAR = /[^\s,\]}]+/y

/**
 * The canonical form of JSON text, the same for all texts with the same meaning: no white space, members sorted by
 * their keys, strings escaped in one way. Numbers stay as they are written (`1.0` is not `1`), and repeated members
 * stay too. Text that is not JSON is its own canonical form. For comparing, not for sending. `scalar` may write a number, or
 * another word without quotes, in one way.
 */
export function canonicalJson(json: JsonText, scalar: (word: string) => string = (word) => word): JsonText {
  if (parse(json) === undefined) return json
  const open: Open[] = []
  let done = ''
  const put = (text: string): void => {
    const into = open.at(-1)
    if (!into) done += text
    else if (into.bracket === '[') into.items.push({ key: '', text })
    else if (into.key === undefined) into.key = text
    else {
      into.items.push({ key: into.key, text })
      into.key = undefined
    }
  }
  for (let at = 0; at < json.length; ) {
    const first = json[at]!
    if (BETWEEN.has(first)) at += 1
    else if (first === '"') {
      const end = stringEnd(json, at)
      put(JSON.stringify(JSON.parse(json.slice(at, end))))
      at = end
    } else if (first === '{' || first === '[') {
      open.push({ bracket: first, items: [], key: undefined })
      at += 1
    } else if (first === '}' || first === ']') {
      const closed = open.pop()!
      put(textOf(closed))
      at += 1
    } else {
      SCALAR.lastIndex = at
      const [text] = SCALAR.exec(json)!
      put(scalar(text))
      at += text.length
    }
  }
  return done
}

/** Joins by `+`, which copies nothing: other ways would copy deeply nested text at each level. */
function textOf({ bracket, items }: Open): string {
  const isObject = bracket === '{'
  if (isObject) items.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
  let text: string = bracket
  for (const [at, item] of items.entries()) {
    if (at > 0) text += ','
    if (isObject) text += `${item.key}:`
    text += item.text
  }
  return text + (isObject ? '}' : ']')
}
