import * as v from 'valibot'
import {
  answerFormat,
  count,
  flag,
  jsonSchema,
  looseObject,
  maybe,
  number,
  objects,
  record,
  text,
  texts,
  whole,
} from '../../../src/codec-kit/index.ts'
import { thinking } from './effort.ts'
import { choice, tool } from './tools.ts'

const format = answerFormat('schema', jsonSchema)

/** Members that the model has a place for. */
export const OWN = {
  model: v.optional(text, ''),
  max_tokens: count,
  messages: v.pipe(v.array(v.unknown(), 'must be an array'), v.minLength(1, 'must not be empty')),
  system: maybe(v.union([text, v.array(v.unknown())], 'must be a string or an array of blocks')),
  stream: maybe(flag),
  tools: maybe(v.array(tool, 'must be an array')),
  tool_choice: maybe(choice),
  temperature: maybe(number),
  top_p: maybe(number),
  stop_sequences: maybe(texts),
}
const textOrObject = v.union([text, record({})], 'must be a string or an object')
/** Members that reach a server of this API; the model has a place for a part of some. */
const PASSED = {
  metadata: maybe(record({ user_id: maybe(text) })),
  output_config: maybe(record({ effort: maybe(text), format: maybe(format) })),
  output_format: maybe(format),
  thinking: maybe(thinking),
  betas: maybe(texts),
  billing_policy: maybe(record({})),
  cache_control: maybe(record({ type: text })),
  compaction: maybe(record({})),
  container: maybe(textOrObject),
  context_management: maybe(record({})),
  diagnostics: maybe(record({})),
  fallback_credit_token: maybe(textOrObject),
  fallbacks: maybe(v.union([text, objects], 'must be a string or an array of objects')),
  inference_geo: maybe(text),
  mcp_servers: maybe(objects),
  service_tier: maybe(text),
  speed: maybe(text),
  thread: maybe(record({})),
  top_k: maybe(whole),
  user_profile_id: maybe(text),
  workspace_id: maybe(text),
}

/** A body as it is sent. */
export const Request = looseObject({ ...OWN, ...PASSED })
/** A body as it was read. */
export type Read = v.InferOutput<typeof Request>

/** A body whose tokens are counted: it takes no limit of the answer. */
export const Counted = looseObject({ ...Request.entries, max_tokens: maybe(count) })
