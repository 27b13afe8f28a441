import type { Operations } from '../../src/contract/index.ts'
import { ANSWER_LINES, jsonLines, jsonSchema } from '../../src/describe/index.ts'
import { Prompt } from './schema.ts'

/** The endpoint of this protocol. */
export const operations: Operations = {
  tag: 'zot',
  operations: {
    'POST /v1/zot': {
      id: 'zotRpc',
      summary: 'A connection of zot RPC: commands as lines in, responses and events as lines out.',
      request: jsonLines(jsonSchema(Prompt), '{"id":"1","type":"prompt","message":"Hello"}\n'),
      answers: ANSWER_LINES,
    },
  },
}
