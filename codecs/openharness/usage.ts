import { countMembers, isUncounted, type Report, readCounts } from '../../src/codec-kit/index.ts'
import { isRecord, type JsonText, type Members, object, type Usage } from '../../src/model/index.ts'

/** Wire names of the token counts in our extension and in `usage` events. */
const NAMES = {
  input: 'input_tokens',
  output: 'output_tokens',
  reasoning: 'reasoning_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
  total: 'total_tokens',
  costUsd: 'cost_usd',
} as const satisfies Record<keyof Usage, string>

/** Usage as raw JSON; `extra` members go in front. */
export function usageJson(usage: Usage, estimated: boolean, extra: Members = {}): JsonText {
  return object(extra, countMembers(usage, NAMES), { estimated: estimated ? 'true' : undefined })
}

/** The usage that a JSON value reports; undefined when it has no count above zero (all zero means unknown). */
export function usageOf(value: unknown, report: Report): { usage: Usage; estimated?: true } | undefined {
  if (!isRecord(value)) return undefined
  const usage = readCounts(value, NAMES, report)
  if (isUncounted(usage)) return undefined
  return { usage, ...(value['estimated'] === true && { estimated: true }) }
}
