/** The expectations for every pair of a client and an agent with approvals: shown options, answers and losses. */
import { expect } from 'vitest'
import type { Choice } from './asking-clients.ts'

/** The tool call that every agent asks about. */
export const ARGS = { path: '/x', n: 1 }

/** The edited arguments of a client. */
export const EDITED = '{"path":"/y","n":2.50}'

/** Consent and refusal, by the ids that the agent gave them. */
export interface Choices {
  allow: Choice
  deny: Choice
}

/** The choices that an agent gives. */
export const choicesOf = ({ rich }: Back): Choices => ({
  allow: { option: rich ? 'once' : 'allow', kind: 'allow' },
  deny: { option: rich ? 'no' : 'deny', kind: 'deny' },
})

/** A JSON object. */
export type Json = Record<string, unknown>

/** An agent: whether it names options of its own, and what it is told on its wire, read and as it stood there. */
export interface Back {
  config: string
  rich: boolean
  told(line: Json): unknown
  says: Readonly<Record<'allow' | 'deny' | 'ever', unknown>>
  /** Its answer when the client allows edited arguments; absent: a refusal. */
  edited?: unknown
  /** Its answer when the turn is cancelled while it waits; undefined: none, because its call has ended. */
  cancelled: unknown
}

const chosen = (option: string) => ({ approval_id: 'p1', option })
const context = (line: Json): Json => (line['request'] as { context: Json }).context

/** The agents by protocol. */
export const BACKS: Readonly<Record<string, Back>> = {
  'agentproc@0.4': {
    config: 'protocol: agentproc@0.4, permission: true',
    rich: false,
    told: ({ message: _message, ...line }) => line,
    says: {
      allow: { type: 'permission_response', request_id: 'p1', behavior: 'allow' },
      deny: { type: 'permission_response', request_id: 'p1', behavior: 'deny' },
      ever: undefined,
    },
    edited: { type: 'permission_response', request_id: 'p1', behavior: 'allow', updated_input: JSON.parse(EDITED) },
    cancelled: { type: 'permission_response', request_id: 'p1', behavior: 'deny' },
  },
  qwen: {
    config: 'protocol: qwen',
    rich: true,
    told: ({ type, response }) => (type === 'control_response' ? (response as Json)['result'] : { type }),
    says: {
      allow: { behavior: 'approve', option: 'once' },
      deny: { behavior: 'deny', option: 'no' },
      ever: { behavior: 'approve', option: 'ever' },
    },
    edited: { behavior: 'approve', option: 'once', updated_arguments: JSON.parse(EDITED) },
    cancelled: { type: 'control/cancel' },
  },
  'qwen-code': {
    config: 'protocol: qwen-code',
    rich: false,
    told({ type, request, response }) {
      if (type === 'control_request') return { type: (request as Json)['subtype'] }
      return { behavior: ((response as Json)['response'] as Json)['behavior'] }
    },
    says: { allow: { behavior: 'allow' }, deny: { behavior: 'deny' }, ever: undefined },
    cancelled: { type: 'interrupt' },
  },
  native: {
    config: 'protocol: native',
    rich: true,
    told: ({ type, reply }) => (type === 'ask-reply' ? reply : { type }),
    says: {
      allow: { kind: 'approval', option: 'once' },
      deny: { kind: 'approval', option: 'no' },
      ever: { kind: 'approval', option: 'ever' },
    },
    edited: { kind: 'approval', option: 'once', edited: JSON.parse(EDITED) },
    cancelled: { type: 'turn-cancel' },
  },
  openharness: {
    config: 'protocol: openharness',
    rich: true,
    told: (line) => (context(line)['extensions'] as Json)['urn:turnpike:approval'],
    says: { allow: chosen('once'), deny: chosen('no'), ever: chosen('ever') },
    edited: { ...chosen('once'), args: JSON.parse(EDITED) },
    cancelled: undefined,
  },
}

/** The options that a client's protocol shows, and its refusal of an answer without an open question. */
export interface Front {
  shows: 'options' | 'labels' | 'nothing'
  /** An answer with another id or token. */
  unknown: unknown
  /** A second, other answer, and one after a cancel; absent: its wire is closed by then. */
  second?: unknown
}

const invalid = { code: 'invalid-request' }

/** The clients by protocol, `native` in each of its forms. */
export const FRONTS: Readonly<Record<string, Front>> = {
  qwen: { shows: 'options', unknown: { code: 'QWEN_INVALID_REQUEST' }, second: { code: 'QWEN_INVALID_REQUEST' } },
  'qwen-code': { shows: 'labels', unknown: { subtype: 'error' }, second: { subtype: 'error' } },
  'agentproc@0.4': { shows: 'nothing', unknown: expect.stringContaining('permission_response is ignored') },
  native: { shows: 'options', unknown: invalid, second: invalid },
  'native-stream': { shows: 'options', unknown: { status: 400, ...invalid }, second: { status: 400, ...invalid } },
  'native-whole': {
    shows: 'options',
    unknown: { status: 404, code: 'session-not-found' },
    second: { status: 400, ...invalid },
  },
  openharness: {
    shows: 'options',
    unknown: { status: 404, code: 'not_found' },
    second: { status: 400, code: 'invalid_request' },
  },
}
/** Their late answer after a cancel is answered with the cancelled turn. */
export const GO_ON: readonly string[] = ['native-whole', 'openharness']

/** The outcome of a question. */
export const CASES = ['allow', 'deny', 'ever', 'edited', 'timeout', 'cancel'] as const
/** One of them. */
export type Case = (typeof CASES)[number]

/** The options as a client is shown them. */
export const optionsOf = (front: Front, back: Back): unknown => {
  const plain = ['allow', 'deny'].map((kind) => expect.objectContaining({ id: kind, kind, scope: 'once' }))
  const rich = [
    { id: 'once', kind: 'allow', scope: 'once', label: 'Yes' },
    { id: 'ever', kind: 'allow', scope: 'always', label: 'Always' },
    { id: 'no', kind: 'deny', scope: 'once', label: 'No' },
  ]
  if (front.shows === 'options') return back.rich ? rich : plain
  if (front.shows === 'nothing') return undefined
  const kinds = back.rich ? ['allow', 'allow', 'deny'] : ['allow', 'deny']
  return kinds.map((kind) => [kind, expect.any(String)])
}

/** The losses between the two: options that the client cannot show, arguments that the agent does not accept. */
export const lostBetween = (front: Front, back: Back, what: Case): unknown[] => [
  ...(what === 'edited' && !back.edited ? [{ kind: 'weakened', item: 'ask-reply', field: 'edited', count: 1 }] : []),
  ...(front.shows !== 'options' && back.rich
    ? [{ kind: 'weakened', item: 'ask.approval', field: 'options', count: 1 }]
    : []),
  ...(front.shows === 'nothing' && (what === 'timeout' || what === 'cancel')
    ? [{ kind: 'weakened', item: 'ask-settled', count: 1 }]
    : []),
]
