import { isUncounted, type Report, readCounts } from '../../src/codec-kit/index.ts'
import { isRecord, type Usage } from '../../src/model/index.ts'

/** The counts of a prompt's answer, and those of one model call in `_meta`, by their names there. */
const COUNTS = {
  input: 'inputTokens',
  output: 'outputTokens',
  reasoning: 'thoughtTokens',
  cacheRead: 'cachedReadTokens',
  cacheWrite: 'cachedWriteTokens',
  total: 'totalTokens',
} as const

/** The counts of Gemini CLI in `_meta.quota.token_count`. */
const QUOTA = { input: 'input_tokens', output: 'output_tokens' } as const

/** The cost that an agent says in `_meta.turnpike`, as a gateway does. */
const COST = { costUsd: 'costUsd' } as const

/** Reads a `usage` object. All zeros, or no count at all, mean that nothing was counted: then undefined. */
export function readUsage(json: unknown, report: Report): Usage | undefined {
  const usage = readCounts(json, COUNTS, report)
  return isUncounted(usage) ? undefined : usage
}

/** Reads the tokens of a turn from the answer to its prompt. */
export function readTurnUsage(
  { usage, _meta: meta }: Readonly<Record<string, unknown>>,
  report: Report,
): Usage | undefined {
  const { quota, turnpike } = isRecord(meta) ? meta : {}
  const tokens = readUsage(usage, report) ?? readCounts(isRecord(quota) ? quota['token_count'] : 0, QUOTA, report)
  const counted = { ...tokens, ...readCounts(turnpike, COST, report) }
  return isUncounted(counted) ? undefined : counted
}
