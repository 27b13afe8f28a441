import { type JsonText, type Members, members, object, oneLine, type Pairs, pairsOf } from '../model/index.ts'

/** One member of a message to write; an undefined value leaves it out. */
export type Entry = readonly [key: string, json: JsonText | undefined]

const NONE: ReadonlySet<string> = new Set()

/**
 * Writes a message as one line of JSON. The members of the object `extra` follow the message's own and replace none of
 * them, except those named in `replaceable`, which keep their place.
 */
export function messageLine(
  message: Members | Pairs,
  extra?: JsonText,
  replaceable: ReadonlySet<string> = NONE,
): string {
  if (extra === undefined) return oneLine(object(message))
  const extras = members(extra)
  const replacing = new Map(extras.filter(([key]) => replaceable.has(key)))
  const own = [...pairsOf(message)].flatMap(([key, json]): Entry[] =>
    json === undefined ? [] : [[key, replacing.get(key) ?? json]],
  )
  const taken = new Set(own.map(([key]) => key))
  return oneLine(
    object(
      own,
      extras.filter(([key]) => !taken.has(key)),
    ),
  )
}
