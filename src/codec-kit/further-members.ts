import { isRecord, type JsonText, type Member, members, object } from '../model/index.ts'

/** The members of an object that a codec reads or need not read, with those of objects in it that may have further ones. */
export interface KnownMembers {
  readonly [key: string]: true | KnownMembers
}

/**
 * The members of an object that are not known, raw and at their places; undefined when there are none. `value` is the
 * parsed `json`, so that objects without further members are not read a second time. Null says nothing.
 */
export function furtherMembers(
  json: JsonText,
  value: Readonly<Record<string, unknown>>,
  known: KnownMembers,
): JsonText | undefined {
  if (!hasFurther(value, known)) return undefined
  const further = members(json).flatMap(([key, raw]): Member[] => {
    const inner = knownAs(known, key)
    const held = value[key]
    if (inner === undefined) return held === null ? [] : [[key, raw]]
    const within = inner !== true && isRecord(held) ? furtherMembers(raw, held, inner) : undefined
    return within === undefined ? [] : [[key, within]]
  })
  return object(further)
}

/** True for an object with members that are not known. */
export function hasFurther(value: Readonly<Record<string, unknown>>, known: KnownMembers): boolean {
  for (const key in value) {
    const inner = knownAs(known, key)
    const held = value[key]
    if (inner === undefined ? held !== null : inner !== true && isRecord(held) && hasFurther(held, inner)) return true
  }
  return false
}

function knownAs(known: KnownMembers, key: string): true | KnownMembers | undefined {
  return Object.hasOwn(known, key) ? known[key] : undefined
}

/** An object with further members at their places. They replace none. */
export function withFurther(json: JsonText, further: JsonText | undefined): JsonText {
  if (further === undefined) return json
  const more = new Map(members(further))
  const own = members(json).map(([key, raw]): Member => {
    const inner = raw.startsWith('{') ? more.get(key) : undefined
    more.delete(key)
    return [key, withFurther(raw, inner)]
  })
  return object([...own, ...more])
}
