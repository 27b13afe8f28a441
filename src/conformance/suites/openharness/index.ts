import {
  bigText,
  type HostileFacts,
  isObject,
  type JsonRecord,
  objectIn,
  type Player,
  type PlayerContext,
  type ProtocolSuites,
  RUN_ID,
  type Scenario,
  type Suite,
} from '../../kit/index.ts'
import { agentRules, SECRET } from './agent.ts'
import { clientRules } from './client.ts'

const envelope = (context: JsonRecord, more: JsonRecord = {}): JsonRecord => ({
  protocol_version: '1.0.0',
  request_id: 'req-1',
  correlation_id: 'corr-1',
  request: { context: { session_id: `conformance-${RUN_ID}`, user_intent: 'Reply with the word ok.', ...context } },
  ...more,
})
const scenario = (name: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
  name,
  steps: [{ write: typeof body === 'string' ? body : JSON.stringify(body) }, { end: true }],
  ...more,
})

/** True when an answer refuses the request as invalid. */
const isRefusal = (response: JsonRecord): boolean => String(objectIn(response, 'error')['code']).startsWith('invalid')

const hostile: HostileFacts = {
  prefix: 'openharness',
  form: 'body',
  section: '4 Forward compatibility',
  isLast: (frame) => frame.includes('"response"'),
  // One JSON object with something beside it is none.
  clients: { 'unknown-messages-and-fields': 'answer', banner: 'honest', 'answers-twice': 'honest' },
  agents: { 'unknown-messages-and-fields': 'answer' },
  turns: {
    many: false,
    request: (request_id, user_intent) => ({ ...envelope({ user_intent }), request_id }),
    ids: ['request_id'],
    endOf: ({ response }) => (isObject(response) ? (isRefusal(response) ? 'refused' : '') : undefined),
  },
}

const suite: Suite = {
  framing: 'body',
  http: { path: '', headers: () => ({}) },
  env: [],
  scenarios: [
    scenario('plain', envelope({})),
    scenario('minimum', {
      protocol_version: '1.0.0',
      request: { context: { user_intent: 'Reply with the word ok.' } },
    }),
    scenario(
      'more',
      envelope(
        { unknown: [1], extensions: { 'com.example': {} } },
        { unknown: { a: 1 }, extensions: { 'com.example': {} } },
      ),
    ),
    scenario('unicode', envelope({ user_intent: '“é” 😀 \u2028' }, { request_id: 'ü-😀', correlation_id: 'ç-😀' })),
    scenario(
      'capabilities',
      envelope({}, { capabilities: { 'com.example.never': true, 'openharness.streaming': true } }),
    ),
    scenario('attachment', envelope({ attachments: [{ uri: 'https://example.com/a.png', mime_type: 'image/png' }] })),
    scenario('big', envelope({ user_intent: bigText(200_000) })),
    scenario('no-json', '{"protocol_version":'),
    scenario('no-version', { request_id: 'req-1', request: { context: { user_intent: 'hi' } } }),
    scenario('no-request', { protocol_version: '1.0.0', request_id: 'req-1' }),
    scenario('other-version', envelope({}, { protocol_version: '99.0.0' })),
    scenario('secret', {
      protocol_version: '1.0.0',
      request_id: 'req-1',
      request: { auth: { token: SECRET }, context: 7 },
    }),
    scenario('wrong-method', '', { method: 'PUT', only: 'http' }),
  ],
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}

/** Plays an engine: one message for every envelope that can be read, else an error. */
export function play({ transport }: PlayerContext): Player {
  return {
    line: ({ object }) => {
      const { request_id, correlation_id, request } = object ?? {}
      const ids = {
        ...(request_id !== undefined && { request_id }),
        ...(correlation_id !== undefined && { correlation_id }),
      }
      const isGood = request !== undefined
      const response = isGood ? SUCCESS : { status: 'error', error: { code: 'invalid_request', retryable: false } }
      const body = { protocol_version: '1.0.0', ...ids, response }
      const end = transport === 'stdio' ? '\n' : ''
      return [
        { pause: 200 },
        { status: isGood ? 200 : 400 },
        { write: JSON.stringify(body) + end },
        { exit: isGood ? 0 : 1 },
      ]
    },
  }
}

const SUCCESS = {
  status: 'success',
  action_directives: [{ action_type: 'render_message', payload: { text: 'All well.' } }],
}

/** The tests of OpenHarness v1. */
export const conformance: ProtocolSuites = { suites: { v1: suite } }
