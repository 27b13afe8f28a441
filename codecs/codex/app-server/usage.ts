import { growthOf, type Report, readCounts } from '../../../src/codec-kit/index.ts'
import type { Usage } from '../../../src/model/index.ts'

/** The names of the counts on the wire. `inputTokens` includes those of the cache, as in the model. */
const NAMES = {
  input: 'inputTokens',
  output: 'outputTokens',
  reasoning: 'reasoningOutputTokens',
  cacheRead: 'cachedInputTokens',
  cacheWrite: 'cacheWriteInputTokens',
  total: 'totalTokens',
} as const

/**
 * Turns the tokens of a thread, which are counted since it began, into those of a model call and of a turn. The agent
 * repeats its counts without a call in between, and its count of the last call may be an estimate, so only growth of
 * the total counts.
 */
export class ThreadUsage {
  /** The count at the beginning of the turn, and now. */
  #base: Usage | undefined
  #now: Usage | undefined

  /** A turn begins. In a thread that has just begun nothing was counted before. */
  begin(fresh: boolean): void {
    if (fresh) this.#now = {}
    this.#base = this.#now
  }

  /** `thread/tokenUsage/updated`: the tokens of a model call; undefined when there was none. */
  update(total: unknown, last: unknown, report: Report): Usage | undefined {
    const now = readCounts(total, NAMES, report)
    const before = this.#now ?? growthOf(now, readCounts(last, NAMES, report))
    this.#base ??= before
    this.#now = now
    return growthOf(now, before)
  }

  /** The tokens of the turn; undefined when none were counted. */
  get ofTurn(): Usage | undefined {
    return this.#now && this.#base && growthOf(this.#now, this.#base)
  }
}
