import type { Operations } from '../../src/contract/index.ts'
import { ANY_OBJECT, json, jsonSchema, REFUSALS } from '../../src/describe/index.ts'
import { respondSchema } from './clawrun/schema.ts'
import { runSchema } from './schema.ts'

const answers = {
  200: {
    description: 'The answer; as lines with `Accept: application/x-ndjson`.',
    bodies: { 'application/json': { schema: ANY_OBJECT }, 'application/x-ndjson': { schema: ANY_OBJECT } },
  },
  ...REFUSALS,
}

/** The endpoints of this protocol. */
export const operations: Operations = {
  tag: 'Zene',
  about: 'The host protocol of Zene, and ClawRun.',
  operations: {
    'POST /v1/zene': {
      id: 'zeneRun',
      summary: 'Runs a turn of the Zene host protocol.',
      request: json(jsonSchema(runSchema), { request_id: 'r1', session_id: 's1', prompt: 'Hello' }),
      answers,
    },
    'POST /v1/respond': {
      id: 'zeneRespond',
      summary: 'Runs a turn of the ClawRun protocol.',
      request: json(jsonSchema(respondSchema), { agent: 'AGENT', prompt: 'Hello', channel_id: 'c1', session_id: 's1' }),
      answers,
    },
  },
}
