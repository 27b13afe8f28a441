import { type Item, isRecord, type JsonText, type Loss, type Member, members, object } from '../model/index.ts'
import { dropped } from './losses.ts'

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

/** The longest name of a lost member that a loss report has, in UTF-16 units. */
const MAX_NAME = 60

/** Reports the members of an object that are not known and do not reach the other wire, each by its name. */
export function reportFurther(
  value: Readonly<Record<string, unknown>>,
  known: KnownMembers,
  report: (loss: Loss) => void,
  item: Item = 'ext',
): void {
  for (const key in value) {
    const held = value[key]
    const inner = knownAs(known, key)
    if (inner === undefined) {
      if (!isNothing(held, item)) report(dropped(item, key.slice(0, MAX_NAME).toWellFormed()))
    } else if (inner !== true && isRecord(held)) reportFurther(held, inner, report, item)
  }
}

/** True for null, and for a count of nothing, or several of them. */
function isNothing(held: unknown, item: Item): boolean {
  if (item !== 'usage' || held === null) return held === null
  return held === 0 || (isRecord(held) && Object.values(held).every((count) => isNothing(count, item)))
}
