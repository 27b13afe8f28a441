import type { Codec } from '../../src/contract/index.ts'
import { dialect as code, errors } from '../qwen-code/index.ts'
import { dialect as rfc } from './dialect.ts'
import { type Options, optionKeys, optionsSchema } from './options.ts'

/**
 * Structured input and output of Qwen Code as its RFC has it (`rfc`). A client that names the program may also speak the
 * wire that the CLI ships with (`code`); an agent is configured by the codec of its dialect.
 */
export const codec: Codec<Options> = {
  name: 'qwen',
  dialects: { rfc, code },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen', input: 'ndjson' }],
  options: { schema: optionsSchema, keys: optionKeys },
}
