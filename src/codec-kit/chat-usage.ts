import { isRecord, type Usage } from '../model/index.ts'
import { isUncounted, readCounts } from './counts.ts'
import type { KnownMembers } from './further-members.ts'
import type { Report } from './losses.ts'

const COUNTS = { input: 'prompt_tokens', output: 'completion_tokens', total: 'total_tokens' } as const
const CACHED = { cacheRead: 'cached_tokens' } as const
const DETAILS = { ...CACHED, cacheWrite: 'cache_write_tokens' } as const
/** DeepSeek's name for them, outside of the details. */
const CACHE_HITS = { cacheRead: 'prompt_cache_hit_tokens' } as const
const REASONED = { reasoning: 'reasoning_tokens' } as const

/** The members of a `usage` object that are read, or follow from those. */
export const CHAT_COUNTS: KnownMembers = {
  cached_tokens: true,
  prompt_cache_hit_tokens: true,
  prompt_cache_miss_tokens: true,
  prompt_tokens: true,
  completion_tokens: true,
  total_tokens: true,
  prompt_tokens_details: { cached_tokens: true, cache_write_tokens: true },
  completion_tokens_details: { reasoning_tokens: true },
}

/** Reads the tokens of a `usage` object of Chat Completions. All zeros mean that nothing was counted: then undefined. */
export function readChatUsage(json: unknown, report: Report): Usage | undefined {
  if (!isRecord(json)) return undefined
  const usage: Usage = {
    ...readCounts(json, COUNTS, report),
    ...readCounts(json, CACHED, report),
    ...readCounts(json, CACHE_HITS, report),
    ...readCounts(json['prompt_tokens_details'], DETAILS, report),
    ...readCounts(json['completion_tokens_details'], REASONED, report),
  }
  return isUncounted(usage) ? undefined : usage
}
