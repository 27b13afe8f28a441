import * as v from 'valibot'
import { argumentOf, type Codec, type Dialect } from '../../src/contract/index.ts'
import { QwenCodeBack } from './back/index.ts'
import { pinsSession } from './back/process.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { errors } from './errors.ts'
import { accepts } from './front/args.ts'
import { QwenCodeFront } from './front/index.ts'

export { isOfRfc, RFC_TYPES } from './front/args.ts'
export { errors }

/** The CLI as it shipped (0.24 and 0.15): lines of `system`, `assistant`, `user`, `result` and control messages. */
export const dialect: Dialect<unknown> = {
  wireVersion: '0.24',
  // Raw lines: a prompt in text mode keeps its blank ones.
  framing: 'text',
  front: {
    capabilities: frontCapabilities,
    env: [],
    accepts,
    open: (context, ports) => new QwenCodeFront(context, ports),
  },
  back: {
    capabilities: backCapabilities,
    // A session that its arguments name is that of every process.
    memory: ({ process }) => (pinsSession(process?.args) ? 'named' : 'resumed'),
    configuredModel: (context) => argumentOf(context, '--model', '-m'),
    open: (context, ports) => new QwenCodeBack(context, ports),
  },
}

/** Structured input and output of Qwen Code as its CLI ships it. Its agents are configured by their arguments alone. */
export const codec: Codec = {
  name: 'qwen-code',
  dialects: { code: dialect },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen-code', input: 'text' }],
  options: { schema: v.strictObject({}), keys: [] },
}
