import * as v from 'valibot'
import type { FrontContext } from '../../../src/contract/index.ts'
import {
  type AskReply,
  type Ext,
  type Fault,
  fault,
  members,
  type Part,
  parseObject,
  type SessionRef,
  type TurnStart,
} from '../../../src/model/index.ts'
import { embeddedBytes, partOf } from '../attachments.ts'
import { invalidRequest } from '../errors.ts'
import { approvalReply, type RequestMessage, requestMessage } from '../schema.ts'
import { APPROVAL_EXTENSION, at, ownContinuation, type Raw, VERSION, versionLine } from '../wire.ts'
import { askedCapabilities, type RawRequest, requestExt } from './ext.ts'

/** The ids that an answer echoes; one that the request got wrong is left out. */
export interface Ids {
  request?: string
  correlation?: string
}

/** A request as the front understood it. */
export interface ShellRequest {
  /** Capabilities the shell asked for (its value is neither false nor null). */
  asked: readonly string[]
  session: SessionRef
  /** The members of a new turn. */
  start: Pick<TurnStart, 'request' | 'agent' | 'input' | 'once' | 'askedCapabilities' | 'environment'> & {
    locale?: string
  }
  /** The answer to an ask of a parked turn; then no new turn begins. */
  reply?: { continuation: string; ask?: string; reply: AskReply; input?: readonly Part[] }
  ext?: Ext
  /** The number of unknown members of `auth`: they may be secrets and are not passed on. */
  droppedAuth: number
}

/** The result of reading a body: the ids to echo, and either the request or the fault that refuses it. */
export type ReadRequest = { ids: Ids } & ({ request: ShellRequest } | { fault: Fault })

type Context = NonNullable<RequestMessage['request']['context']>

const AUTH_KEYS = new Set(['tenant_id', 'credential_ref', 'session_id'])

/** The ids that the HTTP headers carry (HTTP profile): what a body without the fields is answered with. */
export function headerIds({ headers }: FrontContext): Ids {
  const request = headers['x-request-id']
  const trace = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(headers['traceparent'] ?? '')?.[1]
  const correlation = headers['x-correlation-id'] || trace
  return { ...(request && { request }), ...(correlation && { correlation }) }
}

/** Reads a shell's envelope. Section 5.1 and the schema say what is valid; the order of checks is version, shape, content. */
export function readRequest(body: string, wire: FrontContext): ReadRequest {
  const fromHeaders = headerIds(wire)
  const message = parseObject(body)
  if (!message) {
    const what = body.trim() === '' ? 'is empty' : 'is not a JSON object'
    return { ids: fromHeaders, fault: invalidRequest(`The body ${what}; send one OpenHarness envelope.`) }
  }
  const ids: Ids = {
    ...idOf('request', message['request_id'], fromHeaders),
    ...idOf('correlation', message['correlation_id'], fromHeaders),
  }
  const refused = versionFault(message['protocol_version'])
  if (refused) return { ids, fault: refused }
  const checked = v.safeParse(requestMessage, message, { abortEarly: true })
  if (!checked.success) {
    const [issue] = checked.issues
    const field = fieldName(v.getDotPath(issue) as string)
    const problem = issue.received === 'undefined' ? 'is missing.' : issue.message
    return { ids, fault: invalidRequest(`${field} ${problem}`, field) }
  }
  const context = checked.output.request.context ?? {}
  const wrong = contentFault(context)
  if (wrong) return { ids, fault: wrong }
  return { ids, request: understand(body, checked.output, context, ids) }
}

/** The id of a body, or of the header when the body has none; an invalid id in a body is not replaced. */
function idOf(name: keyof Ids, value: unknown, fromHeaders: Ids): Ids {
  const id = value === undefined ? fromHeaders[name] : value
  return typeof id === 'string' && id !== '' ? { [name]: id } : {}
}

function versionFault(version: unknown): Fault | undefined {
  const line = versionLine(version)
  if (line === 'same') return undefined
  if (line === 'other') {
    const message = `This gateway speaks OpenHarness 1.x, not ${JSON.stringify(version).slice(0, 40)}; send protocol_version ${VERSION}.`
    return fault('unsupported-version', message)
  }
  const problem = version === undefined ? 'is missing' : 'must be three numbers'
  return invalidRequest(`protocol_version ${problem}; send ${VERSION}.`, 'protocol_version')
}

/** Fields of the request are named as the protocol's own errors name them: from `auth` or `context` on. */
function fieldName(path: string): string {
  return path.replace(/^request\.(?=auth|context)/, '')
}

/** Refuses requests that the schema allows: bytes in attachments, and a request without content. */
function contentFault(context: Context): Fault | undefined {
  const field = embeddedBytes(context.attachments ?? [], 'context.attachments')
  if (field !== undefined) {
    return invalidRequest(`${field} holds bytes; upload them and send a reference (ref_id, uri or asset_id).`, field)
  }
  if (intentText(context).trim() !== '' || context.continuation !== undefined) return undefined
  if ((context.attachments ?? []).length > 0) return undefined
  if (Object.keys(context.task_hint ?? {}).some((key) => key !== 'plugin_id')) return undefined
  if (Object.keys(context.environment_state ?? {}).some((key) => key !== 'privacy_tier')) return undefined
  const message =
    'The context says nothing; send a user_intent, attachments, a task_hint, a continuation or an environment_state.'
  return invalidRequest(message, 'context.user_intent')
}

/** Present when the intent is text; only the presence of an object counts; it is read raw later. */
function intentText({ user_intent }: Context): string {
  return typeof user_intent === 'object' ? '{}' : (user_intent ?? '')
}

function understand(body: string, message: RequestMessage, context: Context, ids: Ids): ShellRequest {
  const { auth } = message.request
  const raw = rawRequest(body)
  const token = context.continuation?.continuation_token
  const continuation = ownContinuation(token)
  const intent = typeof context.user_intent === 'object' ? at(raw.context, 'user_intent')! : (context.user_intent ?? '')
  const asked = askedCapabilities(message.capabilities ?? {})
  const sessionId = context.session_id || auth?.session_id
  const ext = requestExt(raw, message, continuation !== undefined)
  const input = inputOf(intent, context)
  const files = input.filter(({ type }) => type !== 'text')
  return {
    asked,
    session: {
      ...(sessionId && { id: sessionId }),
      ...(context.conversation_id && { conversation: context.conversation_id }),
      ...(token && continuation === undefined && { continuation: token }),
    },
    start: {
      ...(ids.request !== undefined && {
        request: ids.request,
        once: {
          key: ids.request,
          duplicate: 'join',
          replay: 'undelivered',
          holds: 'running',
          ...(message.correlation_id !== undefined && { incidental: ['correlation_id'] }),
        },
      }),
      ...(context.task_hint?.plugin_id && { agent: context.task_hint.plugin_id }),
      input,
      ...(asked.length > 0 && { askedCapabilities: asked }),
      ...(context.environment_state && { environment: environmentOf(context, raw.context) }),
      ...(context.shell?.locale && { locale: context.shell.locale }),
    },
    ...(continuation !== undefined && {
      reply: {
        continuation,
        ...(approvalOf(context, raw.context) ?? { reply: { kind: 'approval', option: intent.trim() } }),
        // An agent that takes input while it works gets them.
        ...(files.length > 0 && { input: files }),
      },
    }),
    ...(ext && { ext }),
    droppedAuth: Object.keys(auth ?? {}).filter((key) => !AUTH_KEYS.has(key)).length,
  }
}

/** Each object is read once, because many of its members are looked for. A request that says something has them all. */
function rawRequest(body: string): RawRequest {
  const top = members(body)
  const request = members(at(top, 'request')!)
  return { top, request, context: members(at(request, 'context')!) }
}

function inputOf(intent: string, context: Context): Part[] {
  const files = (context.attachments ?? []).flatMap((attachment) => partOf(attachment) ?? [])
  return intent === '' ? files : [{ type: 'text', text: intent }, ...files]
}

/** Section 8: what has no tier may hold anything private; a tier that is not in the list counts as the strictest. */
function environmentOf(context: Context, raw: Raw): TurnStart['environment'] {
  const tier = context.environment_state!['privacy_tier']
  const json = at(raw, 'environment_state')!
  if (tier === undefined) return { privacy: 'restricted', json }
  return { privacy: tier === 'public' || tier === 'restricted' ? tier : 'secret', json }
}

/** The shell's answer to an approval in its extension; undefined when there is none that can be read. */
function approvalOf(context: Context, raw: Raw): { ask?: string; reply: AskReply } | undefined {
  const read = v.safeParse(approvalReply, context.extensions?.[APPROVAL_EXTENSION])
  if (!read.success) return undefined
  const { approval_id, option, message, stop_turn } = read.output
  const edited = at(raw, 'extensions', APPROVAL_EXTENSION, 'args')
  return {
    ...(typeof approval_id === 'string' && { ask: approval_id }),
    reply: {
      kind: 'approval',
      option,
      ...(edited !== undefined && edited !== 'null' && { edited }),
      ...(typeof message === 'string' && { message }),
      ...(stop_turn && { stopTurn: true }),
    },
  }
}
