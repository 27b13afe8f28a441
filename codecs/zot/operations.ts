import * as v from 'valibot'
import type { Operations } from '../../src/contract/index.ts'
import { ANSWER_LINES, jsonLines, jsonSchema } from '../../src/describe/index.ts'
import { Prompt } from './schema.ts'

/** A command as a line. */
const command = v.looseObject({ id: v.optional(v.string()), type: v.string(), ...Prompt.entries })

/** The endpoint of this protocol. */
export const operations: Operations = {
  tag: 'zot',
  about: 'The RPC of zot.',
  operations: {
    'POST /v1/zot': {
      id: 'zotRpc',
      summary: 'A connection of zot RPC: commands as lines in, responses and events as lines out.',
      request: jsonLines(jsonSchema(command), { id: '1', type: 'prompt', message: 'Hello' }),
      answers: ANSWER_LINES,
    },
  },
}
