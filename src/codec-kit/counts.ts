import { isRecord, type Loss, type Usage } from '../model/index.ts'

/** More tokens than any session has: a count above it is none. */
const MAX_TOKENS = 1e12
/** The same of money, in US dollars. */
const MAX_COST_USD = 1e9

/**
 * The counts of a usage object; none where it is no object. `names` says what the wire calls each. Tokens are whole numbers from 0 to 10^12, costs
 * from 0 to 10^9; what is neither is left out and reported, and what is absent or null stays unknown.
 */
export function readCounts(
  fields: unknown,
  names: Readonly<Partial<Record<keyof Usage, string>>>,
  report: (loss: Loss) => void,
): Usage {
  const usage: Usage = {}
  if (!isRecord(fields)) return usage
  for (const [key, field] of Object.entries(names) as [keyof Usage, string][]) {
    const count = fields[field]
    if (count == null) continue
    if (isCount(key, count)) usage[key] = count
    else report({ kind: 'dropped', item: `usage.${key}`, field, why: 'precision', count: 1 })
  }
  return usage
}

/** True when nothing was counted: what does not know its tokens says zeros. */
export function isUncounted(usage: Usage): boolean {
  return Object.values(usage).every((count) => count === 0)
}

function isCount(key: keyof Usage, count: unknown): count is number {
  if (typeof count !== 'number' || !(count >= 0)) return false
  return key === 'costUsd' ? count <= MAX_COST_USD : Number.isInteger(count) && count <= MAX_TOKENS
}
