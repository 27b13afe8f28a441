import { elements, type JsonText, members, object, quote } from '../../../src/model/index.ts'

/**
 * Further members that came in pieces, as one object; undefined when none came. Lists and texts go on, as the official
 * clients read them; of any other value the last one counts.
 */
export function joinedMembers(pieces: readonly JsonText[]): JsonText | undefined {
  if (pieces.length === 0) return undefined
  const all = new Map<string, JsonText[]>()
  for (const [key, raw] of pieces.flatMap(members)) {
    const known = all.get(key)
    if (known) known.push(raw)
    else all.set(key, [raw])
  }
  return object([...all].map(([key, raws]) => [key, joined(raws)] as const))
}

function joined(raws: readonly JsonText[]): JsonText {
  if (raws.length === 1) return raws[0]!
  if (raws.every((raw) => raw.startsWith('['))) return `[${raws.flatMap(elements).join(',')}]`
  if (raws.every((raw) => raw.startsWith('"'))) return quote(raws.map((raw) => JSON.parse(raw) as string).join(''))
  return raws.at(-1)!
}
