/** Samples for reports: the shape of a wire without what people, programs and machines said. */

/** Words of protocols: names of types, states and members, not of anything private. */
const WORD = /^[a-z][a-z0-9]*(?:[_.:/-][a-z0-9]+)*$/
/** Longer words may be names of hosts, files or people. */
const LONGEST_WORD = 24
/** Members whose values are words of the protocol. Elsewhere a word may be what somebody wrote. */
const TELLING =
  /(?:^|_|-)(?:type|kind|role|status|state|event|method|command|code|stop|reason|outcome|format|mode|version|object|jsonrpc|subtype|executor|scope|severity|action)(?:$|_|-)|(?:Type|Kind|Status|State|Reason|Code|Version|Format)$/
/** Members whose numbers are counts. */
const COUNTING = /index|seq|token|count|usage|ms$/i

/** A text in which letters and digits are replaced; everything else keeps its place. */
export function masked(text: string): string {
  return text.replace(/\p{L}|\p{M}/gu, 'x').replace(/\p{N}/gu, '0')
}

/** A frame of a wire without its private texts: of JSON the names, words, and lengths stay, of other text the shape. */
export function redactedFrame(text: string): string {
  try {
    return JSON.stringify(redacted(JSON.parse(text), ''))
  } catch {
    return masked(text)
  }
}

function redacted(value: unknown, name: string): unknown {
  if (typeof value === 'string') return isWord(value, name) ? value : masked(value)
  if (typeof value === 'number') return TELLING.test(name) || COUNTING.test(name) ? value : 0
  if (Array.isArray(value)) return value.map((item) => redacted(item, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [keyOf(key), redacted(inner, key)]))
}

function isWord(text: string, name: string): boolean {
  return TELLING.test(name) && text.length <= LONGEST_WORD && (WORD.test(text) || /^\d[\d.-]*$/.test(text))
}

/** Names of members are the protocol's, unless they look like somebody's own. */
function keyOf(key: string): string {
  return /^[A-Za-z_$][\w$-]{0,39}$/.test(key) ? key : masked(key)
}
