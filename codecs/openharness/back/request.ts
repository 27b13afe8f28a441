import { dropped, type Report, scalarText, weakened, withInstruction } from '../../../src/codec-kit/index.ts'
import {
  type AskReply,
  type Command,
  type CommandOf,
  type JsonText,
  type Members,
  object,
  quote,
  type TurnStart,
  textOf,
} from '../../../src/model/index.ts'
import { references } from '../attachments.ts'
import type { Options } from '../options.ts'
import { APPROVAL_EXTENSION, at, oneLine, otherMembers, ownExt, STREAMING, unlessEmpty, VERSION } from '../wire.ts'

/** The command that a turn began with. */
export type Start = Command & TurnStart

/** An answered ask of the engine: the start of the next request. */
export interface Resume {
  approvalId: string
  /** Raw JSON of the engine's `continuation`. */
  continuation: JsonText
  reply: Extract<AskReply, { kind: 'approval' }>
}

/** The parts that a request is made from. */
export interface RequestParts {
  start: Start
  options: Options
  requestId: string
  resume?: Resume
  report: Report
}

const TOP = new Set(['correlation_id', 'capabilities', 'request'])
const REQUEST = new Set(['extensions', 'context'])
const CONTEXT = new Set(['task_hint', 'continuation', 'attachments', 'shell', 'extensions'])
/** An answer that the shell sent with its first request belongs to another question. */
const APPROVAL = new Set([APPROVAL_EXTENSION])

/** The correlation id that the shell sent, when the turn came from one. */
export function correlationOf({ ext }: Start): string | undefined {
  const raw = at(ownExt(ext), 'correlation_id')
  return raw === undefined ? undefined : scalarText(JSON.parse(raw))
}

/** One request envelope (sections 5 and 9) of a turn, or of its continuation after an approval. */
export function requestBody(parts: RequestParts): string {
  const { start, options, requestId, resume } = parts
  const own = ownExt(start.ext)
  const auth = options.tenant === undefined ? undefined : object({ tenant_id: quote(options.tenant) })
  const request = object(
    {
      auth,
      context: resume ? resumedContext(parts, resume, own) : firstContext(parts, own),
      extensions: at(own, 'request', 'extensions'),
    },
    otherMembers(at(own, 'request'), REQUEST),
  )
  const json = object(
    {
      protocol_version: quote(VERSION),
      request_id: quote(requestId),
      correlation_id: at(own, 'correlation_id'),
      capabilities: capabilitiesOf(start, options, own),
      request,
    },
    otherMembers(own, TOP),
  )
  return oneLine(json)
}

/** Streaming is asked for by the agent's options alone: what the shell negotiated is between it and the gateway. */
function capabilitiesOf(start: Start, options: Options, own: JsonText | undefined): JsonText | undefined {
  const asked = (start.askedCapabilities ?? []).filter((name) => name !== STREAMING)
  const values = asked.map((name) => [name, at(own, 'capabilities', name) ?? 'true'] as const)
  return unlessEmpty(object(values, { [STREAMING]: options.streaming ? 'true' : undefined }))
}

function firstContext(parts: RequestParts, own: JsonText | undefined): JsonText {
  const { start, report } = parts
  const context = at(own, 'request', 'context')
  const token = start.session?.continuation
  const continuation = token === undefined ? undefined : object({ continuation_token: quote(token) })
  const intent = intentOf(start, report)
  return object(
    sessionMembers(start),
    {
      user_intent: intent === '' ? undefined : quote(intent),
      task_hint: at(context, 'task_hint'),
      continuation: at(context, 'continuation') ?? continuation,
      environment_state: environmentOf(start),
      attachments: at(context, 'attachments') ?? attachmentsOf(start, report),
      shell: shellOf(parts, context),
      extensions: at(context, 'extensions'),
    },
    otherMembers(context, CONTEXT),
  )
}

/** The shell's decision, both as our extension and as the plain intent that an engine without it understands. */
function resumedContext(parts: RequestParts, resume: Resume, own: JsonText | undefined): JsonText {
  const { option, edited, message, stopTurn } = resume.reply
  const context = at(own, 'request', 'context')
  const approval = object({
    approval_id: quote(resume.approvalId),
    option: quote(option),
    args: edited,
    message: quote(message),
    stop_turn: stopTurn && 'true',
  })
  return object(sessionMembers(parts.start), {
    user_intent: quote(option),
    continuation: resume.continuation,
    shell: shellOf(parts, context),
    extensions: object({ [APPROVAL_EXTENSION]: approval }, otherMembers(at(context, 'extensions'), APPROVAL)),
  })
}

function sessionMembers({ session }: Start): Members {
  return { session_id: quote(session?.bound ?? session?.id), conversation_id: quote(session?.conversation) }
}

/** The protocol has no system prompt: it goes in front of the intent. */
function intentOf({ input, options }: CommandOf<'turn-start'>, report: Report): string {
  const prompt = textOf(input)
  if (options.systemPrompt === undefined) return prompt
  report(weakened('option.systemPrompt'))
  return withInstruction(options.systemPrompt, prompt)
}

/** The tier that the gateway read is written: a tier that is not in the list would make the message invalid. */
function environmentOf({ environment }: Start): JsonText | undefined {
  if (!environment) return undefined
  const state = otherMembers(environment.json, new Set(['privacy_tier']))
  return object({ privacy_tier: quote(environment.privacy) }, state)
}

function attachmentsOf({ input }: Start, report: Report): JsonText | undefined {
  const attachments = references(input, ({ type }) => report(dropped(`part.${type}`, undefined, 'policy')))
  return attachments.length === 0 ? undefined : `[${attachments.join(',')}]`
}

function shellOf({ start, options }: RequestParts, context: JsonText | undefined): JsonText {
  const shell = at(context, 'shell')
  return object(
    {
      shell_kind: at(shell, 'shell_kind') ?? quote(options.shell_kind ?? 'turnpike'),
      locale: quote(start.options.locale),
    },
    otherMembers(shell, new Set(['shell_kind'])),
  )
}
