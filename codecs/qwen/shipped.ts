import * as v from 'valibot'
import type { Codec } from '../../src/contract/index.ts'
import { dialect as code } from './code/index.ts'
import { errors } from './errors.ts'
import { type Options, optionsSchema } from './options.ts'

/** Takes no keys, and gives the defaults of those that only the RFC's dialect has. */
const schema = v.pipe(
  v.strictObject({}),
  v.transform((): Options => v.parse(optionsSchema, {})),
)

/** Structured input and output of Qwen Code as its CLI shipped: the name that pins an agent to this dialect. */
export const shipped: Codec<Options> = {
  name: 'qwen-code',
  dialects: { code },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen-code', input: 'text' }],
  options: { schema, keys: [] },
}
