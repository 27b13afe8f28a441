import { type JsonText, object, type Usage } from '../../../src/model/index.ts'
import type { UsageJson } from './schema.ts'

/** The tokens of a `usage` object. All zeros mean that nothing was counted: then undefined. */
export function readUsage(json: UsageJson | null | undefined): Usage | undefined {
  if (!json) return undefined
  const usage: Usage = {}
  const cached = json.prompt_tokens_details?.cached_tokens
  const reasoning = json.completion_tokens_details?.reasoning_tokens
  if (json.prompt_tokens != null) usage.input = json.prompt_tokens
  if (json.completion_tokens != null) usage.output = json.completion_tokens
  if (reasoning != null) usage.reasoning = reasoning
  if (cached != null) usage.cacheRead = cached
  if (json.total_tokens != null) usage.total = json.total_tokens
  return Object.values(usage).some((count) => count > 0) ? usage : undefined
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

/** Adds the tokens of one model call to a sum; what no call told stays absent. */
export function addUsage(sum: Usage | undefined, usage: Usage): Usage {
  const total: Usage = { ...sum }
  for (const key of Object.keys(usage) as (keyof Usage)[]) total[key] = (total[key] ?? 0) + usage[key]!
  return total
}
