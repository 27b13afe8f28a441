import { type JsonText, members, object, oneLine } from '../model/index.ts'

/** One member of a message to write; an undefined value leaves it out. */
export type Entry = readonly [key: string, json: JsonText | undefined]

const NONE: ReadonlySet<string> = new Set()

/**
 * Writes a message as one line of JSON. The members of the object `extra` follow the entries and replace none of them,
 * except those named in `replaceable`, which keep their place.
 */
export function messageLine(
  entries: readonly Entry[],
  extra?: JsonText | undefined,
  replaceable: ReadonlySet<string> = NONE,
): string {
  if (extra === undefined) return oneLine(object(entries))
  const extras = members(extra)
  const replacing = new Map(extras.filter(([key]) => replaceable.has(key)))
  const own = entries.flatMap(([key, json]): Entry[] => (json === undefined ? [] : [[key, replacing.get(key) ?? json]]))
  const taken = new Set(own.map(([key]) => key))
  return oneLine(object([...own, ...extras.filter(([key]) => !taken.has(key))]))
}
