import type { Operations } from '../../src/contract/index.ts'
import { ANSWER_LINES, json, jsonSchema } from '../../src/describe/index.ts'
import { turnSchema } from './v04/schema.ts'

/** The endpoint of this protocol. */
export const operations: Operations = {
  tag: 'AgentProc',
  about: 'AgentProc, version 0.4.',
  operations: {
    'POST /v1/agentproc': {
      id: 'agentprocRun',
      summary: 'Runs a turn of AgentProc 0.4: its turn object in, its lines out.',
      request: json(jsonSchema(turnSchema), { type: 'turn', protocol_version: '0.4', message: 'Hello' }),
      answers: ANSWER_LINES,
    },
  },
}
