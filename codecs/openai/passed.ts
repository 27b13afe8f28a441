import { flag, maybe, namedValues, record, text, whole } from '../../src/codec-kit/index.ts'

/** Members of the requests of both APIs that only their servers know. */
export const PASSED_BY_BOTH = {
  metadata: maybe(namedValues(text)),
  moderation: maybe(record({})),
  prompt_cache_key: maybe(text),
  prompt_cache_options: maybe(record({})),
  prompt_cache_retention: maybe(text),
  service_tier: maybe(text),
  store: maybe(flag),
  top_logprobs: maybe(whole),
}
