import { isUncounted, readCounts, reportFurther } from '../../../src/codec-kit/index.ts'
import { isRecord, type JsonText, type Loss, type Usage } from '../../../src/model/index.ts'

/** A `usage` object; what is unknown is zero, because clients add the counts up. */
export function usageJson({
  input = 0,
  output = 0,
  total = input + output,
  cacheRead,
  cacheWrite,
  reasoning,
}: Usage): JsonText {
  const written = cacheWrite === undefined ? '' : `,"cache_write_tokens":${cacheWrite}`
  return (
    `{"input_tokens":${input},"input_tokens_details":{"cached_tokens":${cacheRead ?? 0}${written}},` +
    `"output_tokens":${output},"output_tokens_details":{"reasoning_tokens":${reasoning ?? 0}},"total_tokens":${total}}`
  )
}

const COUNTS = { input: 'input_tokens', output: 'output_tokens', total: 'total_tokens' } as const
const CACHED = { cacheRead: 'cached_tokens', cacheWrite: 'cache_write_tokens' } as const
const REASONED = { reasoning: 'reasoning_tokens' } as const

/** The counts that are read. */
const COUNTED = {
  input_tokens: true,
  output_tokens: true,
  total_tokens: true,
  input_tokens_details: { cached_tokens: true, cache_write_tokens: true },
  output_tokens_details: { reasoning_tokens: true },
} as const

/** Reads the tokens of a `usage` object. All zeros mean that nothing was counted: then undefined. */
export function readUsage(json: unknown, report: (loss: Loss) => void): Usage | undefined {
  if (!isRecord(json)) return undefined
  reportFurther(json, COUNTED, report, 'usage')
  const usage: Usage = {
    ...readCounts(json, COUNTS, report),
    ...readCounts(json['input_tokens_details'], CACHED, report),
    ...readCounts(json['output_tokens_details'], REASONED, report),
  }
  return isUncounted(usage) ? undefined : usage
}
