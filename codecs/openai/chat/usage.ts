import { readChatUsage, readCounts, reportFurther } from '../../../src/codec-kit/index.ts'
import { isRecord, type JsonText, type Loss, object, type Usage } from '../../../src/model/index.ts'

/** A `usage` object; what is unknown is zero, because clients add the counts up. */
export function usageJson(usage: Usage): JsonText {
  const { input = 0, output = 0, total = input + output, cacheRead, cacheWrite, reasoning } = usage
  return object([
    ['prompt_tokens', String(input)],
    ['completion_tokens', String(output)],
    ['total_tokens', String(total)],
    ['prompt_tokens_details', details({ cached_tokens: cacheRead, cache_write_tokens: cacheWrite })],
    ['completion_tokens_details', details({ reasoning_tokens: reasoning })],
  ])
}

/** The counts that are known; undefined when none is. */
function details(counts: Readonly<Record<string, number | undefined>>): JsonText | undefined {
  const json = JSON.stringify(counts)
  return json === '{}' ? undefined : json
}

/** An object that has counts. */
interface UsageJson {
  prompt_tokens_details?: unknown
}

const WRITTEN = { cacheWrite: 'cache_write_tokens' } as const

/** The counts that are read, and what follows from them. */
const COUNTED = {
  cached_tokens: true,
  prompt_cache_hit_tokens: true,
  prompt_cache_miss_tokens: true,
  prompt_tokens: true,
  completion_tokens: true,
  total_tokens: true,
  prompt_tokens_details: { cached_tokens: true, cache_write_tokens: true },
  completion_tokens_details: { reasoning_tokens: true },
} as const

/** Reads the tokens of a `usage` object; undefined when nothing was counted. */
export function readUsage(json: unknown, report: (loss: Loss) => void): Usage | undefined {
  const usage = readChatUsage(json, report)
  if (isRecord(json)) reportFurther(json, COUNTED, report, 'usage')
  return usage && { ...usage, ...readCounts((json as UsageJson).prompt_tokens_details, WRITTEN, report) }
}
