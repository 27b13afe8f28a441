import { type JsonText, object, type Usage } from '../../src/model/index.ts'

/** A `usage` object; undefined when it would be empty. What is unknown is left out. */
export function writeUsage(usage: Usage): JsonText | undefined {
  const { input, output, reasoning, cacheRead } = usage
  const sum = input === undefined || output === undefined ? undefined : input + output
  const json = object({
    prompt_tokens: count(input),
    completion_tokens: count(output),
    total_tokens: count(usage.total ?? sum),
    prompt_tokens_details: cacheRead === undefined ? undefined : `{"cached_tokens":${cacheRead}}`,
    completion_tokens_details: reasoning === undefined ? undefined : `{"reasoning_tokens":${reasoning}}`,
  })
  return json === '{}' ? undefined : json
}

function count(tokens: number | undefined): JsonText | undefined {
  return tokens === undefined ? undefined : String(tokens)
}
