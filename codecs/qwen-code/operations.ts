import type { Operations } from '../../src/contract/index.ts'
import { ANSWER_LINES, jsonLines, jsonSchema, objectOf } from '../../src/describe/index.ts'
import { ClientMessage } from './schema.ts'

const line = objectOf({ type: { type: 'string' }, message: jsonSchema(ClientMessage) }, ['type'])

/** The endpoint of this protocol. */
export const operations: Operations = {
  tag: 'Qwen Code',
  operations: {
    'POST /v1/qwen-code': {
      id: 'qwenCodeStream',
      summary: 'A connection of Qwen Code’s stream-json: messages as lines in and out.',
      request: jsonLines(line, '{"type":"user","message":{"role":"user","content":"Hello"}}\n'),
      answers: ANSWER_LINES,
    },
  },
}
