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
} from '../../../../src/codec-kit/index.ts'
import { PASSED_BY_BOTH } from '../../passed.ts'
import { USER } from '../../user.ts'
import { choice, tool } from './tools.ts'

/** Members that have a place in the model, or no meaning for an agent. */
export const OWN = {
  model: v.optional(text, ''),
  input: v.union(
    [text, v.pipe(v.array(v.unknown()), v.minLength(1, 'must not be empty'))],
    'must be a string, or an array of items that is not empty',
  ),
  instructions: maybe(text),
  stream: maybe(flag),
  stream_options: maybe(record({})),
  background: maybe(flag),
  store: maybe(flag),
  previous_response_id: maybe(text),
  conversation: maybe(v.union([text, v.strictObject({ id: text })], 'must be the id of a conversation')),
  n: maybe(v.literal(1, 'must be 1: an agent gives one answer')),
  tools: maybe(v.array(tool, 'must be an array')),
  tool_choice: maybe(choice),
  parallel_tool_calls: maybe(flag),
  reasoning: maybe(record({ effort: maybe(text) })),
  max_output_tokens: maybe(count),
  temperature: maybe(number),
  top_p: maybe(number),
  ...USER,
}
/** Members that reach a server of this API as they came; the model has a place for a part of some. */
const PASSED = {
  ...PASSED_BY_BOTH,
  text: maybe(record({ format: maybe(answerFormat('schema', jsonSchema)), verbosity: maybe(text) })),
  access_programs: maybe(record({})),
  background_options: maybe(record({})),
  context_management: maybe(objects),
  image: maybe(record({})),
  include: maybe(texts),
  max_tool_calls: maybe(whole),
  prompt: maybe(record({})),
  truncation: maybe(text),
}

/** A body as it is sent. */
export const Request = looseObject({ ...PASSED, ...OWN })
/** A body as it was read. */
export type Read = v.InferOutput<typeof Request>
