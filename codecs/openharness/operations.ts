import type { Operation, Operations } from '../../src/contract/index.ts'
import { json, jsonSchema, wholeOrStreamed } from '../../src/describe/index.ts'
import { requestMessage } from './schema.ts'

const EXAMPLE = {
  protocol_version: '1.0.0',
  request_id: 'r1',
  request: { context: { session_id: 's1', user_intent: 'Hello' } },
}

const run: Operation = {
  id: 'openharnessRun',
  summary: 'Runs a turn of the OpenHarness protocol.',
  request: json(jsonSchema(requestMessage), EXAMPLE),
  answers: wholeOrStreamed(),
}

/** The endpoints of this protocol. */
export const operations: Operations = {
  tag: 'OpenHarness',
  operations: { 'POST /v1/openharness': run, 'POST /openharness': { ...run, id: 'openharnessRunAtRoot' } },
}
