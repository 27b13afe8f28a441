import type { Codec } from '../../src/contract/index.ts'
import { dialect as code } from './code/index.ts'
import { errors } from './errors.ts'
import { type Options, optionKeys, optionsSchema } from './options.ts'
import { dialect as rfc } from './rfc/index.ts'

export { shipped } from './shipped.ts'

/**
 * Structured input and output of Qwen Code: as its RFC has it (`rfc`), and as its CLI shipped (`code`). A client that
 * names the program is taken by the dialect that it speaks; an agent is configured by the codec of its dialect.
 */
export const codec: Codec<Options> = {
  name: 'qwen',
  dialects: { rfc, code },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen', input: 'ndjson' }],
  options: { schema: optionsSchema, keys: optionKeys },
}
