import { isRecord, type JsonText, object, type Usage } from '../../src/model/index.ts'

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

const FIELDS = Object.entries(NAMES) as [keyof Usage, string][]

/** Usage as raw JSON; `extra` members go in front. */
export function usageJson(
  usage: Usage,
  estimated: boolean,
  extra: Iterable<readonly [string, JsonText]> = [],
): JsonText {
  const counts = FIELDS.map(([field, name]) => [name, JSON.stringify(usage[field])] as const)
  return object([...extra, ...counts, ['estimated', estimated ? 'true' : undefined]])
}

/** The usage that a JSON value reports; undefined when it has no count above zero (all zero means unknown). */
export function usageOf(value: unknown): { usage: Usage; estimated?: true } | undefined {
  if (!isRecord(value)) return undefined
  const usage: Usage = {}
  let known = false
  for (const [field, name] of FIELDS) {
    const count = value[name]
    if (typeof count !== 'number' || !Number.isFinite(count) || count < 0) continue
    usage[field] = count
    if (count > 0) known = true
  }
  if (!known) return undefined
  return { usage, ...(value['estimated'] === true && { estimated: true }) }
}
