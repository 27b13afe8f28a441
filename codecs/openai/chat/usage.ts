import { type JsonText, object, type Usage } from '../../../src/model/index.ts'

/** A `usage` object; what is unknown is zero, because clients add the counts up. */
export function usageJson({ input = 0, output = 0, total = input + output, cacheRead, reasoning }: Usage): JsonText {
  return object([
    ['prompt_tokens', String(input)],
    ['completion_tokens', String(output)],
    ['total_tokens', String(total)],
    ['prompt_tokens_details', cacheRead === undefined ? undefined : `{"cached_tokens":${cacheRead}}`],
    ['completion_tokens_details', reasoning === undefined ? undefined : `{"reasoning_tokens":${reasoning}}`],
  ])
}
