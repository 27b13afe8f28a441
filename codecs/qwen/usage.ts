import type { JsonText, Usage } from '../../src/model/index.ts'

/** A `usage` object; undefined when it would be empty. What is unknown is left out. */
export function writeUsage({ input, output, total, reasoning, cacheRead }: Usage): JsonText | undefined {
  const sum = input === undefined || output === undefined ? undefined : input + output
  const json = JSON.stringify({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total ?? sum,
    prompt_tokens_details: cacheRead === undefined ? undefined : { cached_tokens: cacheRead },
    completion_tokens_details: reasoning === undefined ? undefined : { reasoning_tokens: reasoning },
  })
  return json === '{}' ? undefined : json
}
