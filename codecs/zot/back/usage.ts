import { type Report, readCounts } from '../../../src/codec-kit/index.ts'
import { addUsage, type Usage } from '../../../src/model/index.ts'

const NAMES: Readonly<Record<Exclude<keyof Usage, 'total'>, string>> = {
  input: 'input',
  output: 'output',
  reasoning: 'reasoning',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  costUsd: 'cost_usd',
}

/** The tokens and the cost of a `usage` message; fields that it does not give are absent. */
export function usageOf(event: unknown, report: Report): Usage {
  return readCounts(event, NAMES, report)
}

/** The usage of a turn: the sum over its model calls. Counts that no call reported stay absent. */
export class UsageSum {
  #total: Usage | undefined
  #gaps = false

  /** Adds one call; `undefined` is a call whose usage is unknown. */
  add(usage: Usage | undefined): void {
    if (usage) this.#total = addUsage(this.#total ?? {}, usage)
    else this.#gaps = true
  }

  /** The total, if any call reported its usage; an estimate (a lower bound) when another one did not. */
  get total(): { usage: Usage; estimated?: true } | undefined {
    return this.#total && { usage: this.#total, ...(this.#gaps && { estimated: true }) }
  }
}
