import type { Codec } from '../../src/contract/index.ts'
import { dialect as code } from './code/index.ts'
import { errors } from './errors.ts'
import { type Options, optionKeys, optionsSchema } from './options.ts'

/** Structured input and output of Qwen Code as its CLI shipped. */
export const codec: Codec<Options> = {
  name: 'qwen-code',
  dialects: { code },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen-code', input: 'text' }],
  options: { schema: optionsSchema, keys: optionKeys },
}
