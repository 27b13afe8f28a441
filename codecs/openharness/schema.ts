import * as v from 'valibot'
import { keysOf, looseObject, record as looseRecord, wireId } from '../../src/codec-kit/index.ts'
import {
  EXECUTORS,
  ITEMS,
  isRecord,
  LOSS_KINDS,
  LOSS_REASONS,
  ROLES,
  STOPS,
  TOOL_STATUSES,
} from '../../src/model/index.ts'

/** An object with these known members; unknown ones are let through. */
function record<const E extends v.ObjectEntries>(entries: E) {
  return looseRecord(entries, 'must be an object.')
}

const string = v.string('must be a string.')
const maybeString = v.optional(string)
const id = v.pipe(string, v.minLength(1, 'must not be empty.'))
const anyObject = v.custom<Record<string, unknown>>(isRecord, 'must be an object.')
const count = v.pipe(
  v.number('must be a number.'),
  v.integer('must be a whole number.'),
  v.minValue(0, 'must not be negative.'),
)

/** A reference to bytes (section 9.1). */
export const attachment = record({
  ref_id: maybeString,
  uri: maybeString,
  asset_id: maybeString,
  mime_type: maybeString,
  filename: maybeString,
  size_bytes: v.optional(count),
})

/** `request.context.continuation` (section 9.2). */
const continuation = record({ run_id: maybeString, sop_id: maybeString, continuation_token: maybeString })

const context = record({
  session_id: maybeString,
  conversation_id: maybeString,
  user_intent: v.optional(
    v.custom<string | Record<string, unknown>>(
      (value) => typeof value === 'string' || isRecord(value),
      'must be a string or an object.',
    ),
  ),
  task_hint: v.optional(record({ sop_id: maybeString, plugin_id: maybeString, business_key: maybeString })),
  continuation: v.optional(continuation),
  environment_state: v.optional(anyObject),
  attachments: v.nullish(v.array(attachment, 'must be an array.')),
  shell: v.optional(
    record({
      shell_kind: v.optional(id),
      shell_version: maybeString,
      locale: maybeString,
      timezone: maybeString,
    }),
  ),
  extensions: v.optional(anyObject),
})

/** A shell's message (sections 5.1 and 9). `null` for capabilities, context and attachments reads as absent. */
export const requestMessage = looseObject({
  request_id: v.optional(id),
  correlation_id: v.optional(id),
  capabilities: v.nullish(anyObject),
  request: record({
    auth: v.optional(record({ tenant_id: maybeString, credential_ref: maybeString, session_id: maybeString })),
    context: v.nullish(context),
    extensions: v.optional(anyObject),
  }),
})
export type RequestMessage = v.InferOutput<typeof requestMessage>
/** The members that the schema names: of the message, of its request, and of the context in that. */
export const KNOWN = {
  top: new Set(['protocol_version', ...keysOf(requestMessage)]),
  request: keysOf(requestMessage.entries.request),
  context: keysOf(context),
}

/** The answer to an approval in `context.extensions` (a convention of this gateway); `null` reads as absent. */
export const approvalReply = looseObject({
  approval_id: v.nullish(v.string()),
  option: v.string(),
  message: v.nullish(v.string()),
  stop_turn: v.nullish(v.boolean()),
})

/** The type that a member must have in a valid directive (section 10). */
export const directiveMembers = {
  action_type: v.pipe(v.string(), v.minLength(1)),
  priority: v.picklist(['low', 'normal', 'high', 'critical']),
  execution: v.picklist(['sequential', 'parallel']),
  risk_tier: v.picklist(['safe', 'caution', 'dangerous']),
  requires_user_approval: v.boolean(),
  deadline_ms: count,
  payload: anyObject,
  extensions: anyObject,
} as const

/** A directive as an engine sends it: only its type is needed to carry it. */
export const directive = looseObject({ action_type: directiveMembers.action_type })

/** An engine's message (section 5.2). */
export const responseMessage = looseObject({
  protocol_version: v.string(),
  response: record({
    status: v.picklist(['success', 'error']),
    action_directives: v.nullish(v.array(record(directive.entries))),
  }),
})

/** The payload of a directive that shows text. */
export const messagePayload = record({ text: v.string(), attachments: v.optional(v.array(attachment)) })

const approvalOption = v.union([
  v.pipe(v.string(), v.minLength(1)),
  record({
    id: v.pipe(v.string(), v.minLength(1)),
    label: v.optional(v.string()),
    kind: v.optional(v.picklist(['allow', 'deny'])),
    scope: v.optional(v.picklist(['once', 'session', 'always'])),
  }),
])
/** One choice of an approval: its id, or the id with more about it. */
export type ApprovalOption = v.InferOutput<typeof approvalOption>

/** The payload of a `request_approval` that can be answered. */
export const approvalPayload = record({
  approval_id: v.pipe(v.string(), v.minLength(1)),
  options: v.pipe(v.array(approvalOption), v.minLength(1)),
  message: v.optional(v.string()),
  tool: v.optional(v.string()),
  continuation: record({ run_id: v.optional(v.string()), continuation_token: v.pipe(v.string(), v.minLength(1)) }),
})

/** The part of a tool's result in the streaming profile. */
const streamPart = v.variant('type', [
  looseObject({ type: v.literal('text'), text: v.string() }),
  looseObject({ type: v.picklist(['image', 'audio', 'file']), ...attachment.entries }),
  looseObject({ type: v.literal('data'), mime_type: v.optional(v.string()) }),
  looseObject({
    type: v.literal('diff'),
    path: v.string(),
    before: v.nullable(v.string()),
    after: v.string(),
  }),
])
export type StreamPart = v.InferOutput<typeof streamPart>

const text = v.optional(v.string())
const lane = text
const status = v.picklist(TOOL_STATUSES)
const executor = v.picklist(EXECUTORS)
const parts = v.optional(v.array(streamPart), [])

/** Payloads of the streaming profile's events, by event name (text deltas have a hand-written guard). */
export const streamEvents = {
  message_start: v.object({
    message: wireId,
    role: v.picklist(ROLES),
    phase: v.optional(v.picklist(['commentary', 'final'])),
    lane,
  }),
  message_end: v.object({ message: wireId, text, attachments: v.optional(v.array(attachment)), lane }),
  message_retract: v.object({ message: wireId, keep_text: v.boolean(), lane }),
  tool_start: v.object({ tool: wireId, message: text, name: v.string(), kind: text, title: text, executor, lane }),
  tool_args_delta: v.object({ tool: wireId, text: v.string(), lane }),
  tool_call: v.object({ tool: wireId, name: v.string(), executor, lane }),
  tool_progress: v.object({ tool: wireId, parts, lane }),
  tool_end: v.object({ tool: wireId, status, parts, lane }),
  directive: v.object(directive.entries),
  usage: looseObject({ scope: v.picklist(['call', 'turn', 'session']), lane }),
  notice: v.object({
    severity: v.picklist(['info', 'warning', 'error']),
    code: v.string(),
    text: v.string(),
    lane,
  }),
} as const

/** Another gateway's description of its turn in `response.extensions["urn:turnpike:turn"]`. */
export const turnExtension = looseObject({
  session: v.optional(v.string()),
  stop: v.optional(v.picklist(STOPS)),
  usage: v.optional(v.unknown()),
  notices: v.optional(v.array(v.unknown())),
  loss: v.optional(v.array(v.unknown())),
})
/** Another gateway's description of its turn, as it was read. */
export type TurnExtension = v.InferOutput<typeof turnExtension>

/** A loss that another gateway reports. */
export const upstreamLoss = v.object({
  kind: v.picklist(LOSS_KINDS),
  item: v.picklist(ITEMS),
  field: v.optional(v.string()),
  why: v.picklist(LOSS_REASONS),
  count: v.pipe(v.number(), v.integer(), v.minValue(1)),
})
