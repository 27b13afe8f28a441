import type { Usage } from '../../src/model/index.ts'
import type { UsageEvent } from './schema.ts'

/** The tokens and the cost of a `usage` message; fields that it does not give are absent. */
export function usageOf(event: UsageEvent): Usage {
  const usage: Usage = {}
  if (event.input != null) usage.input = event.input
  if (event.output != null) usage.output = event.output
  if (event.reasoning != null) usage.reasoning = event.reasoning
  if (event.cache_read != null) usage.cacheRead = event.cache_read
  if (event.cache_write != null) usage.cacheWrite = event.cache_write
  if (event.cost_usd != null) usage.costUsd = event.cost_usd
  return usage
}

/** True when nothing was counted: an agent that does not know the usage says zeros. */
export function isUnknown(usage: Usage): boolean {
  return Object.values(usage).every((value) => value === 0)
}

/** The usage of a turn: the sum over its model calls. What no call told stays absent. */
export class UsageSum {
  readonly #total: Usage = {}
  #known = false
  #gaps = false

  /** Adds one call; `undefined` is a call whose usage is unknown. */
  add(usage: Usage | undefined): void {
    if (usage === undefined) {
      this.#gaps = true
      return
    }
    this.#known = true
    for (const key of Object.keys(usage) as (keyof Usage)[]) {
      this.#total[key] = (this.#total[key] ?? 0) + usage[key]!
    }
  }

  /** The total, if any call told its usage; an estimate (a lower bound) when another one did not. */
  get total(): { usage: Usage; estimated?: true } | undefined {
    if (!this.#known) return undefined
    return { usage: { ...this.#total }, ...(this.#gaps && { estimated: true as const }) }
  }
}
