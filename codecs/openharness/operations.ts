import * as v from 'valibot'
import type { Operation, Operations } from '../../src/contract/index.ts'
import { json, jsonSchema, wholeOrStreamed } from '../../src/describe/index.ts'
import { requestMessage } from './schema.ts'

/** The version is checked before anything else of a request. */
const message = v.looseObject({ protocol_version: v.string(), ...requestMessage.entries })

const EXAMPLE = {
  protocol_version: '1.0.0',
  request_id: 'r1',
  request: { context: { session_id: 's1', user_intent: 'Hello' } },
}

const run: Operation = {
  id: 'openharnessRun',
  summary: 'Runs a turn of the OpenHarness protocol.',
  request: json(jsonSchema(message), EXAMPLE),
  answers: wholeOrStreamed(),
}

/** The endpoints of this protocol. */
export const operations: Operations = {
  tag: 'OpenHarness',
  about: 'The shell’s side of the OpenHarness protocol, version 1.',
  operations: { 'POST /v1/openharness': run, 'POST /openharness': { ...run, id: 'openharnessRunAtRoot' } },
}
