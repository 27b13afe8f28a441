import * as v from 'valibot'
import type { Codec } from '../../src/contract/index.ts'
import { dialect } from './dialect.ts'
import { errors } from './errors.ts'

export { isOfRfc } from './front/accepts.ts'
export { dialect, errors }

/** Structured input and output of Qwen Code as its CLI ships it. Its agents are configured by their arguments alone. */
export const codec: Codec = {
  name: 'qwen-code',
  dialects: { code: dialect },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen-code', input: 'text' }],
  options: { schema: v.strictObject({}), keys: [] },
}
