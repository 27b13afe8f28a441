import { isUncounted, readCounts, reportFurther } from '../../src/codec-kit/index.ts'
import { isRecord, type JsonText, type Loss, type Usage } from '../../src/model/index.ts'

const COUNTS = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
} as const
const DETAILS = { reasoning: 'thinking_tokens' } as const

/** The counts that are read, and what is no count. */
const COUNTED = {
  input_tokens: true,
  output_tokens: true,
  cache_read_input_tokens: true,
  cache_creation_input_tokens: true,
  output_tokens_details: { thinking_tokens: true },
  service_tier: true,
  inference_geo: true,
} as const

/**
 * Reads the tokens of a `usage` object. On the wire `input_tokens` has only what the cache neither gave nor took; in the
 * model `input` is all of it. All zeros mean that nothing was counted: then undefined.
 */
export function readUsage(json: unknown, report: (loss: Loss) => void): Usage | undefined {
  if (!isRecord(json)) return undefined
  reportFurther(json, COUNTED, report, 'usage')
  const { input, ...others } = readCounts(json, COUNTS, report)
  const { cacheRead = 0, cacheWrite = 0 } = others
  const usage: Usage = {
    ...(input !== undefined && { input: input + cacheRead + cacheWrite }),
    ...others,
    ...readCounts(json['output_tokens_details'], DETAILS, report),
  }
  return isUncounted(usage) ? undefined : usage
}

/** A `usage` object; what is unknown is zero, because clients add the counts up. */
export function usageJson({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning }: Usage): JsonText {
  const alone = Math.max(0, input - cacheRead - cacheWrite)
  const cached = `"cache_creation_input_tokens":${cacheWrite},"cache_read_input_tokens":${cacheRead}`
  const thought = reasoning === undefined ? '' : `,"output_tokens_details":{"thinking_tokens":${reasoning}}`
  return `{"input_tokens":${alone},${cached},"output_tokens":${output}${thought}}`
}
