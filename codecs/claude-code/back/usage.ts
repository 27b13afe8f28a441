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
const COST = { costUsd: 'costUsd' } as const
const OWN = { ...MODEL, costUsd: 'costUSD' } as const

/** The tokens of one model call; undefined when nothing was counted. */
export function usageOfCall(fields: unknown, report: Report): Usage | undefined {
  const usage = withCache(readCounts(fields, CALL, report))
  return isUncounted(usage) ? undefined : usage
}

/**
 * The tokens and the cost of turns. A result counts all models, those of sub-agents too, since the session or the process
 * began; the turn's own are what it names as those since the last result, else what has grown.
 */
export class ProcessUsage {
  #before: Usage = {}

  /** A process begins. */
  reset(): void {
    this.#before = {}
  }

  /** A turn has ended; its tokens, undefined when nothing was counted. */
  end(
    { modelUsage, model_usage_since_last_result: own, total_cost_usd: costUsd }: Result,
    report: Report,
  ): Usage | undefined {
    const now = sumOf(modelUsage, MODEL, readCounts({ costUsd }, COST, report), report)
    const usage = own === undefined ? growthOf(now, this.#before) : sumOf(own, OWN, {}, report)
    this.#before = now
    return usage && !isUncounted(usage) ? usage : undefined
  }
}

/** The counts of all models, and `more`. */
function sumOf(models: Result['modelUsage'] = {}, names: typeof MODEL, more: Usage, report: Report): Usage {
  const each = Object.values(models).filter(isRecord)
  return each.reduce<Usage>((sum, model) => addUsage(sum, withCache(readCounts(model, names, report))), more)
}

/** On the wire the input is what the cache neither gave nor took; in the model it is all of it. */
function withCache(usage: Usage): Usage {
  if (usage.input === undefined) return usage
  return { ...usage, input: usage.input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) }
}
