import * as v from 'valibot'
import { isRecord } from '../model/index.ts'

/**
 * An object with these members and any others, like that of valibot, in a fifth of the time: only the members that it has
 * are checked, and it is not copied. Valibot itself reads an object that is not as it must be, or that needs a default.
 */
export function looseObject<const E extends v.ObjectEntries>(entries: E, wrong?: string) {
  const schema = v.looseObject(entries, wrong)
  const members = new Map(Object.entries(entries))
  const needed = Object.keys(entries).filter((key) => !mayBeAbsent(entries[key]!))
  const run: (typeof schema)['~run'] = (dataset, config) => {
    const given = dataset.value
    if (!isRecord(given) || needed.some((key) => given[key] === undefined)) return schema['~run'](dataset, config)
    let read = given
    for (const key in given) {
      const member = members.get(key)
      if (member === undefined) continue
      const { value, issues } = member['~run']({ value: given[key] }, config)
      if (issues) return schema['~run'](dataset, config)
      if (value === given[key]) continue
      if (read === given) read = { ...given }
      read[key] = value
    }
    return { typed: true, value: read } as ReturnType<typeof run>
  }
  return { ...schema, '~run': run }
}

/** True for a member without which an object stays as it is. */
function mayBeAbsent({ type, default: usual, fallback }: Member): boolean {
  const isOptional = type === 'optional' || type === 'nullish' || type === 'exact_optional'
  return isOptional && usual === undefined && fallback === undefined
}

/** A schema, as far as it says what stands in for a member that is absent. */
interface Member {
  readonly type: string
  readonly default?: unknown
  readonly fallback?: unknown
}
