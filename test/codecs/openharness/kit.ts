/** Checks of OpenHarness envelopes: the published schema, and the same rules by hand. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as v from 'valibot'
import { expect } from 'vitest'
import { codec } from '../../../codecs/openharness/index.ts'
import { frameText } from '../../../src/contract/index.ts'
import { isRecord } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive } from '../../kit/drive.ts'
import { PUBLISHED } from '../../kit/recordings.ts'

const SCHEMA = readFileSync(join(PUBLISHED, 'openharness/openharness-v1.draft.schema.json'), 'utf8')
const { $defs } = JSON.parse(SCHEMA) as { $defs: object }

/** The published schema of one kind of message. */
function validator(kind: 'requestMessage' | 'responseMessage') {
  return new Ajv2020({ allErrors: true }).compile({ $defs, $ref: `#/$defs/${kind}` })
}

const validateRequest = validator('requestMessage')
const validateResponse = validator('responseMessage')

const id = v.pipe(v.string(), v.minLength(1))
const version = v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+/))
const object = v.custom<object>(isRecord)

const directive = v.looseObject({
  action_type: id,
  priority: v.optional(v.picklist(['low', 'normal', 'high', 'critical'])),
  execution: v.optional(v.picklist(['sequential', 'parallel'])),
  risk_tier: v.optional(v.picklist(['safe', 'caution', 'dangerous'])),
  requires_user_approval: v.optional(v.boolean()),
  deadline_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  payload: v.optional(object),
  extensions: v.optional(object),
})

/** A valid answer, by the rules of the text (sections 5.2, 10 and 13) and without the schema. */
const response = v.looseObject({
  protocol_version: version,
  request_id: v.optional(id),
  correlation_id: v.optional(id),
  request: v.optional(v.never()),
  supported_protocol_versions: v.optional(v.array(version)),
  supported_capabilities: v.optional(object),
  capability_denials: v.optional(
    v.array(v.looseObject({ capability: id, code: v.optional(v.string()), message: v.optional(v.string()) })),
  ),
  response: v.looseObject({
    status: v.picklist(['success', 'error']),
    engine_latency_ms: v.optional(v.pipe(v.number(), v.minValue(0))),
    action_directives: v.optional(v.array(directive)),
    error: v.optional(
      v.looseObject({
        code: id,
        message: v.optional(v.string()),
        retryable: v.optional(v.boolean()),
        details: v.optional(object),
      }),
    ),
  }),
})

/** A sent envelope, parsed, after it was found valid and on one line. */
export function validResponse(json: string): Record<string, unknown> {
  expect(json).not.toMatch(/[\r\n\u2028\u2029\u0085]/)
  const value = JSON.parse(json) as Record<string, unknown>
  expect(v.safeParse(response, value).issues, json).toBeUndefined()
  expect(validateResponse(value), JSON.stringify(validateResponse.errors)).toBe(true)
  // The published schema takes exactly one of the two kinds of message.
  expect(validateRequest(value)).toBe(false)
  return value
}

/** A request envelope, parsed, after it was found valid. */
export function validRequest(json: string): Record<string, unknown> {
  expect(json).not.toMatch(/[\r\n\u2028\u2029\u0085]/)
  const value = JSON.parse(json) as Record<string, unknown>
  expect(validateRequest(value), JSON.stringify(validateRequest.errors)).toBe(true)
  expect(validateResponse(value)).toBe(false)
  return value
}

export const HTTP = { transport: 'http', method: 'POST', path: '/v1/openharness' } as const

/** A request body with this context and these other members. */
export function body(context: object, top: object = {}): string {
  return JSON.stringify({ protocol_version: '1.0.0', ...top, request: { context } })
}

/** A front over HTTP that got this body. */
export function ask(text: string, headers: Record<string, string> = {}): FrontDrive {
  const drive = driveFront(codec, { ...HTTP, headers: { 'content-type': 'application/json', ...headers } })
  drive.feed(text)
  return drive
}

/** The one envelope that a front sent as a body or as its last event. */
export function answerOf(drive: FrontDrive): Record<string, unknown> & { response: Record<string, unknown> } {
  const frame = drive.sent.at(-1)!
  return validResponse(frameText(frame)) as Record<string, unknown> & { response: Record<string, unknown> }
}
