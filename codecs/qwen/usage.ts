import { isUncounted, readCounts } from '../../src/codec-kit/index.ts'
import { isRecord, type JsonText, type Loss, object, type Usage } from '../../src/model/index.ts'

const COUNTS = { input: 'prompt_tokens', output: 'completion_tokens', total: 'total_tokens' } as const
const CACHED = { cacheRead: 'cached_tokens' } as const
const REASONED = { reasoning: 'reasoning_tokens' } as const

/** The tokens of a `usage` object. All zeros mean that nothing was counted: then undefined. */
export function readUsage(json: unknown, report: (loss: Loss) => void): Usage | undefined {
  if (!isRecord(json)) return undefined
  const usage: Usage = {
    ...readCounts(json, COUNTS, report),
    ...readCounts(json['prompt_tokens_details'], CACHED, report),
    ...readCounts(json['completion_tokens_details'], REASONED, report),
  }
  return isUncounted(usage) ? undefined : usage
}

/** A `usage` object; undefined when it would be empty. What is unknown is left out. */
export function writeUsage(usage: Usage): JsonText | undefined {
  const { input, output, reasoning, cacheRead } = usage
  const sum = input === undefined || output === undefined ? undefined : input + output
  const json = object([
    ['prompt_tokens', count(input)],
    ['completion_tokens', count(output)],
    ['total_tokens', count(usage.total ?? sum)],
    ['prompt_tokens_details', cacheRead === undefined ? undefined : `{"cached_tokens":${cacheRead}}`],
    ['completion_tokens_details', reasoning === undefined ? undefined : `{"reasoning_tokens":${reasoning}}`],
  ])
  return json === '{}' ? undefined : json
}

function count(tokens: number | undefined): JsonText | undefined {
  return tokens === undefined ? undefined : String(tokens)
}
