import { CHAT_COUNTS, readChatUsage, reportFurther } from '../../../src/codec-kit/index.ts'
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

/** Reads the tokens of a `usage` object; undefined when nothing was counted. */
export function readUsage(json: unknown, report: (loss: Loss) => void): Usage | undefined {
  if (isRecord(json)) reportFurther(json, CHAT_COUNTS, report, 'usage')
  return readChatUsage(json, report)
}
