import * as v from 'valibot'
import type { Operations } from '../../src/contract/index.ts'
import { ANSWER_LINES, jsonLines, jsonSchema, objectOf } from '../../src/describe/index.ts'
import { ClientMessage } from './schema.ts'

const message = v.looseObject({ role: v.optional(v.string()), ...ClientMessage.entries })
const line = objectOf({ type: { type: 'string' }, message: jsonSchema(message) }, ['type'])

/** The endpoint of this protocol. */
export const operations: Operations = {
  tag: 'Qwen Code',
  about: 'The stream-json of Qwen Code.',
  operations: {
    'POST /v1/qwen-code': {
      id: 'qwenCodeStream',
      summary: 'A connection of Qwen Code’s stream-json: messages as lines in and out.',
      request: jsonLines(line, { type: 'user', message: { role: 'user', content: 'Hello' } }),
      answers: ANSWER_LINES,
    },
  },
}
