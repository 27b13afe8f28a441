import { growthOf, isUncounted, type Report, readCounts } from '../../../src/codec-kit/index.ts'
import { addUsage, isRecord, type Usage } from '../../../src/model/index.ts'
import type { Result } from '../schema.ts'

const CALL = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
} as const
const MODEL = {
  input: 'inputTokens',
  output: 'outputTokens',
  reasoning: 'thinkingTokens',
  cacheRead: 'cacheReadInputTokens',
  cacheWrite: 'cacheCreationInputTokens',
} as const

/** The tokens of one model call; undefined when nothing was counted. */
export function usageOfCall(fields: unknown, report: Report): Usage | undefined {
  const usage = withCache(readCounts(fields, CALL, report))
  return isUncounted(usage) ? undefined : usage
}

/**
 * The tokens and the cost of turns. A result counts all models, those of sub-agents too, since the process began; the
 * turn's own are what has grown.
 */
export class ProcessUsage {
  #before: Usage = {}

  /** A process begins. */
  reset(): void {
    this.#before = {}
  }

  /** A turn has ended; its tokens, undefined when nothing was counted. */
  end({ modelUsage = {}, total_cost_usd }: Result, report: Report): Usage | undefined {
    const models = Object.values(modelUsage).filter(isRecord)
    let now = readCounts({ costUsd: total_cost_usd }, { costUsd: 'costUsd' }, report)
    for (const model of models) now = addUsage(now, withCache(readCounts(model, MODEL, report)))
    const grown = growthOf(now, this.#before)
    this.#before = now
    return grown
  }
}

/** On the wire the input is what the cache neither gave nor took; in the model it is all of it. */
function withCache(usage: Usage): Usage {
  if (usage.input === undefined) return usage
  return { ...usage, input: usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) }
}
