import { isRecord, type Pairs, type Usage } from '../model/index.ts'
import type { Report } from './losses.ts'

/** A token count above this is not plausible and is not a count. */
const MAX_TOKENS = 1e12
/** The same limit for costs, in US dollars. */
const MAX_COST_USD = 1e9

/**
 * Reads the counts of a usage object; a value that is not an object has none. `names` maps each count to its name on
 * the wire. Tokens are whole numbers from 0 to 10^12, costs from 0 to 10^9; other values are left out and reported.
 * Absent and null counts stay unknown.
 */
export function readCounts(
  fields: unknown,
  names: Readonly<Partial<Record<keyof Usage, string>>>,
  report: Report,
): Usage {
  const usage: Usage = {}
  if (!isRecord(fields)) return usage
  for (const name in names) {
    const key = name as keyof Usage
    const field = names[key]!
    const count = fields[field]
    if (count == null) continue
    if (isCount(key, count)) usage[key] = count
    else report({ kind: 'dropped', item: `usage.${key}`, field, why: 'precision', count: 1 })
  }
  return usage
}

/** The known counts as members of a usage object, in the order of `names`; one that is no finite number is null. */
export function countMembers(usage: Usage, names: Readonly<Partial<Record<keyof Usage, string>>>): Pairs {
  const entries = Object.entries(names) as [keyof Usage, string][]
  return entries.map(([key, field]) => [field, JSON.stringify(usage[key])] as const)
}

/** True when all counts are zero: programs that do not know their token counts send zeros. */
export function isUncounted(usage: Usage): boolean {
  for (const key in usage) if (usage[key as keyof Usage] !== 0) return false
  return true
}

/** The growth of counts that go on over turns or calls; undefined when none has grown. */
export function growthOf(now: Usage, before: Usage = {}): Usage | undefined {
  const grown: Usage = {}
  for (const [key, count] of Object.entries(now) as [keyof Usage, number][]) {
    grown[key] = Math.max(0, count - (before[key] ?? 0))
  }
  return isUncounted(grown) ? undefined : grown
}

function isCount(key: keyof Usage, count: unknown): count is number {
  if (typeof count !== 'number' || !(count >= 0)) return false
  return key === 'costUsd' ? count <= MAX_COST_USD : Number.isInteger(count) && count <= MAX_TOKENS
}
