import type { Operations } from '../../src/contract/index.ts'
import { ANSWER_LINES, jsonLines, jsonSchema } from '../../src/describe/index.ts'
import { ChatRequest } from './schema.ts'

/** The endpoint of this protocol. */
export const operations: Operations = {
  tag: 'Qwen',
  about: 'The RFC of Qwen Code.',
  operations: {
    'POST /v1/qwen': {
      id: 'qwenStream',
      summary: 'A connection of the Qwen Code RFC: requests as lines in, completions and events as lines out.',
      request: jsonLines(jsonSchema(ChatRequest), {
        session_id: 's1',
        input: { parts: [{ type: 'text', text: 'Hello' }] },
      }),
      answers: ANSWER_LINES,
    },
  },
}
