import * as v from 'valibot'
import {
  type Ask,
  type AskOption,
  type ErrorCode,
  type Ext,
  elements,
  type Fault,
  fault,
  isRecord,
  type JsonText,
  type Members,
  members,
  type Part,
  parseObject,
  rest,
} from '../../../src/model/index.ts'
import { heldByPart, partOf } from '../attachments.ts'
import { codeOfStatus, faultOfError } from '../errors.ts'
import {
  type ApprovalOption,
  approvalPayload,
  messagePayload,
  responseMessage,
  type TurnExtension,
  turnExtension,
} from '../schema.ts'
import {
  at,
  ENVELOPE,
  entriesExt,
  otherMembers,
  type Raw,
  RESPONSE,
  STREAMING,
  TURN_EXTENSION,
  versionLine,
} from '../wire.ts'

type Approval = Extract<Ask['question'], { kind: 'approval' }>

/** A directive of an answer: text to show, an approval that can be answered, or anything else as it came. */
export type EngineDirective =
  | { kind: 'message'; parts: Part[] }
  | { kind: 'approval'; approvalId: string; continuation: JsonText; question: Approval }
  | { kind: 'other'; action: string; json: JsonText }

/** An engine's envelope as it was understood, and what is looked into again of it as it came. */
export interface EngineAnswer {
  json: Raw
  response: Raw
  /** The raw texts of `directives`. */
  list: readonly JsonText[]
  directives: EngineDirective[]
  /** The extension in which another gateway describes its turn. */
  turn: TurnExtension
  /** The failure of the engine; undefined for status `success`. */
  fault?: Fault
}

/** Statuses after which the same request may succeed, even where the answer is no envelope. */
const PASSING = new Set([408, 425, 429, 502, 503, 504])

/** The fault of an answer that breaks the protocol. Nothing of its text is repeated: it may hold anything. */
export function violation(problem: string, status: number, code: ErrorCode = 'protocol-violation'): Fault {
  const message = `The engine's answer (HTTP ${status}) ${problem}; check its URL, its credentials and its version.`
  return fault(code, message, { retryable: PASSING.has(status) })
}

/** The fault of an answer without an envelope, by its status. */
const noEnvelope = (problem: string, status: number): Fault => violation(problem, status, codeOfStatus(status))

/** Reads an engine's answer strictly: version line, response, status, and a type for every directive. */
export function readAnswer(json: string, status: number): EngineAnswer | Fault {
  const message = parseObject(json)
  if (!message) {
    const problem = json.trim() === '' ? 'is empty' : 'is not a JSON object, or is cut short'
    return noEnvelope(problem, status)
  }
  if (message['response'] === undefined) return noEnvelope('has no response', status)
  if (versionLine(message['protocol_version']) !== 'same') {
    return violation('has no protocol_version of the line 1.x', status)
  }
  const checked = v.safeParse(responseMessage, message, { abortEarly: true })
  if (!checked.success) {
    const field = v.getDotPath(checked.issues[0]) as string
    return violation(`is wrong in ${field}`, status)
  }
  const failed = checked.output.response.status === 'error'
  if (!failed && status >= 400) return violation('says success under a failing status', status)
  const given = checked.output.response.action_directives ?? []
  const top = members(json)
  const response = members(at(top, 'response')!)
  const list = elements(at(response, 'action_directives') ?? '')
  const directives = given.map((directive, index) => directiveOf(directive, list[index]!, failed))
  const answer = { json: top, response, list, directives, turn: turnOf(checked.output.response['extensions']) }
  return failed ? { ...answer, fault: faultOfError(at(response, 'error'), status) } : answer
}

function turnOf(extensions: unknown): TurnExtension {
  const read = v.safeParse(turnExtension, isRecord(extensions) ? extensions[TURN_EXTENSION] : undefined)
  return read.success ? read.output : {}
}

function directiveOf(
  directive: { action_type: string; payload?: unknown },
  json: JsonText,
  failed: boolean,
): EngineDirective {
  const action = directive.action_type
  if (action === 'render_message') {
    const read = v.safeParse(messagePayload, directive['payload'])
    if (read.success) {
      const attached = (read.output.attachments ?? []).flatMap((attachment) => partOf(attachment) ?? [])
      return { kind: 'message', parts: [{ type: 'text', text: read.output.text }, ...attached] }
    }
  }
  if (action === 'request_approval' && !failed) {
    const read = v.safeParse(approvalPayload, directive['payload'])
    if (read.success) {
      const { approval_id, options, message, tool } = read.output
      const args = at(json, 'payload', 'args')
      return {
        kind: 'approval',
        approvalId: approval_id,
        continuation: at(json, 'payload', 'continuation')!,
        question: {
          kind: 'approval',
          name: tool ?? action,
          args: args ?? '{}',
          ...(message !== undefined && { description: message }),
          options: options.map(optionOf),
          ...(args !== undefined && { editable: true }),
        },
      }
    }
  }
  return { kind: 'other', action, json }
}

/**
 * An option's text decides what it does where the engine does not say so; anything but a plain yes counts as a refusal.
 */
function optionOf(option: ApprovalOption): AskOption {
  const given = typeof option === 'string' ? { id: option } : option
  const yes = /^(allow|approve|accept|yes|ok|proceed|confirm)/i.test(given.id)
  return {
    id: given.id,
    kind: given.kind ?? (yes ? 'allow' : 'deny'),
    scope: given.scope ?? scopeOf(given.id),
    ...(given.label !== undefined && { label: given.label }),
  }
}

function scopeOf(id: string): AskOption['scope'] {
  if (/always/i.test(id)) return 'always'
  return /session/i.test(id) ? 'session' : 'once'
}

const HOP = new Set([STREAMING])

/**
 * The members of an answer beyond the model, in the shape of the envelope itself: capability answers, unknown fields,
 * foreign extensions, and (when `keepList`) the list of directives wherever text and directives alone would not give
 * it back. Our own ids, versions and latency take the place of the engine's.
 */
export function answerExt({ json, response }: EngineAnswer, keepList: boolean): Ext | undefined {
  const extensions = rest(at(response, 'extensions') ?? '', new Set([TURN_EXTENSION]))
  const inner = entriesExt(
    { action_directives: keepList ? at(response, 'action_directives') : undefined, extensions },
    otherMembers(response, RESPONSE),
  )
  return entriesExt(capabilityMembers(json), { response: inner?.json }, otherMembers(json, ENVELOPE))
}

/** The part of `answerExt` that an answer before the end of the turn needs: what was said of capabilities. */
export function capabilityExt(json: Raw): Ext | undefined {
  return entriesExt(capabilityMembers(json))
}

/** Streaming on this wire concerns the gateway and the engine alone. */
function capabilityMembers(json: Raw): Members {
  const denials = at(json, 'capability_denials') ?? ''
  return {
    supported_capabilities: rest(at(json, 'supported_capabilities') ?? '', HOP),
    capability_denials: elements(denials).length === 0 ? undefined : denials,
  }
}

const MESSAGE_KEYS = new Set(['action_type', 'priority', 'risk_tier'])

/** True when one plain message in front of the other directives says everything that the list does. */
export function isPlainList({ list, directives }: EngineAnswer): boolean {
  return directives.every(({ kind }, index) => kind !== 'message' || (index === 0 && isPlainMessage(list[0]!)))
}

function isPlainMessage(json: JsonText): boolean {
  const { priority = 'normal', risk_tier = 'safe', payload, ...others } = parseObject(json)!
  const { text: _text, attachments = [], ...more } = payload as Record<string, unknown>
  const unknown = Object.keys(others).some((key) => !MESSAGE_KEYS.has(key)) || Object.keys(more).length > 0
  return priority === 'normal' && risk_tier === 'safe' && !unknown && (attachments as object[]).every(heldByPart)
}
