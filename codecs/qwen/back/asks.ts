import { askIdOf, type KnownMembers, messageLine, reportFurther, scalarText } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type AskOption,
  type AskReply,
  type CommandOf,
  elements,
  type Id,
  type JsonText,
  member,
  members,
  object,
  parseObject,
  type Question,
  quote,
  rest,
} from '../../../src/model/index.ts'
import { entriesExt } from '../wire.ts'
import type { TurnDecoder } from './turn.ts'

/** The choices of an approval that names none. */
const OPTIONS: readonly AskOption[] = [
  { id: 'approve', kind: 'allow', scope: 'once' },
  { id: 'deny', kind: 'deny', scope: 'once' },
]

/** A question, and how its answer is written. */
interface Asked {
  question: Question
  subtype: string
  /** True when the agent named the choices, so that the answer names the chosen one. */
  named?: boolean
}

/** The `control_request`s of an agent and the answers to them. */
export class BackAsks {
  readonly #ports: BackPorts
  /** The open questions; `request` is the id of its request, as the agent wrote it. */
  readonly #open = new Map<string, Asked & { request: JsonText }>()

  constructor(ports: BackPorts) {
    this.#ports = ports
  }

  /** Takes a `control_request` of the turn. Without a turn no client can be asked: it is refused at once. */
  request(subtype: string, line: JsonText, turn: TurnDecoder | undefined): void {
    const request = member(line, 'request_id')!
    if (!turn) {
      this.#ports.send(responseLine(request, refusal('No turn is running: no client can be asked.')))
      return
    }
    const asked = subtype === 'can_use_tool' ? approvalOf(line, turn) : clientQuestion(subtype, line)
    const ask = askIdOf(request, this.#open)
    this.#open.set(ask, { ...asked, request })
    turn.emit({ type: 'ask', ask, question: asked.question }, entriesExt(members(furtherOf(asked.question, line))))
  }

  /** Sends the answer to a question; a question that is not open any more gets none. */
  reply({ ask = '', reply }: CommandOf<'ask-reply'>): void {
    const open = this.#open.get(ask)
    if (!open) return
    this.#open.delete(ask)
    this.#ports.send(responseLine(open.request, responseTo(open, reply)))
  }

  /** The turn is over, and with it its questions. */
  clear(): void {
    this.#open.clear()
  }
}

/** The members of a tool, or of a payload that is one. */
const TOOL: KnownMembers = {
  ...{ id: true, tool_call_id: true, tool_use_id: true, name: true, tool_name: true, arguments: true, input: true },
  ...{ reason: true, description: true, options: true, metadata: true },
}

/** An approval in either of its shapes: `tool` and `metadata` side by side, or both within `payload`. */
function approvalOf(line: JsonText, turn: TurnDecoder): Asked {
  const payload = member(line, 'payload') ?? '{}'
  const tool = member(line, 'tool') ?? member(payload, 'tool') ?? payload
  const metadata = member(line, 'metadata') ?? member(payload, 'metadata') ?? payload
  const about = parseObject(metadata) ?? {}
  const fields = parseObject(tool) ?? {}
  reportFurther(fields, TOOL, (loss) => turn.report(loss))
  const name = fields['name'] ?? fields['tool_name']
  const description = about['reason'] ?? about['description']
  const options = elements(member(metadata, 'options') ?? '').flatMap(readOption)
  const named = options.some(({ kind }) => kind === 'allow') && options.some(({ kind }) => kind === 'deny')
  const question: Question = {
    kind: 'approval',
    ...toolOf(fields['id'] ?? fields['tool_call_id'] ?? fields['tool_use_id'], turn),
    name: typeof name === 'string' ? name : 'tool',
    args: member(tool, 'arguments') ?? member(tool, 'input') ?? '{}',
    ...(typeof description === 'string' && { description }),
    options: named ? options : OPTIONS,
    editable: true,
  }
  return { question, subtype: 'can_use_tool', named }
}

/** The call that an approval is about. */
function toolOf(id: unknown, turn: TurnDecoder): { tool?: Id } {
  if (typeof id !== 'string' && typeof id !== 'number') return {}
  return { tool: turn.running(String(id)) ?? String(id) }
}

function readOption(json: JsonText): AskOption[] {
  const { id, kind, scope, label } = parseObject(json) ?? {}
  if (typeof id !== 'string' || (kind !== 'allow' && kind !== 'deny')) return []
  const wide = scope === 'session' || scope === 'always' ? scope : 'once'
  return [{ id, kind, scope: wide, ...(typeof label === 'string' && { label }) }]
}

const ENVELOPE: ReadonlySet<string> = new Set(['type', 'request_id', 'subtype', 'session_id', 'prompt_id'])
const AROUND: ReadonlySet<string> = new Set([...ENVELOPE, 'payload'])
const ASKED: ReadonlySet<string> = new Set([...AROUND, 'tool'])

/** The members of a request without a place, as an object. Without a payload another question is all of them. */
function furtherOf({ kind }: Question, line: JsonText): JsonText {
  if (kind !== 'approval' && member(line, 'payload') === undefined) return '{}'
  return rest(line, kind === 'approval' ? ASKED : AROUND) ?? '{}'
}

/** Any other question: its `payload`, or everything that is not the envelope. */
function clientQuestion(method: string, line: JsonText): Asked {
  const params = member(line, 'payload') ?? rest(line, ENVELOPE) ?? '{}'
  return { question: { kind: 'client', method, params }, subtype: method }
}

/** The `response` to a question. */
function responseTo({ question, subtype, named }: Asked, reply: AskReply): JsonText {
  if (reply.kind === 'approval') {
    const options = question.kind === 'approval' ? question.options : []
    const chosen = options.find(({ id }) => id === reply.option)
    const result = object({
      behavior: chosen?.kind === 'allow' ? '"approve"' : '"deny"',
      option: named && chosen ? quote(chosen.id) : undefined,
      message: quote(reply.message),
      updated_arguments: reply.edited,
    })
    return `{"subtype":"success","result":${result}}`
  }
  if (reply.kind === 'client' && reply.error === undefined) {
    const result = reply.result ?? 'null'
    return `{"subtype":"success","result":${subtype === 'mcp_message' ? `{"mcp_response":${result}}` : result}}`
  }
  const message = reply.kind === 'client' ? member(reply.error!, 'message') : undefined
  return refusal(message === undefined ? 'The client refused.' : scalarText(JSON.parse(message)))
}

function refusal(message: string): JsonText {
  return `{"subtype":"error","error":{"message":${quote(message)},"retryable":false}}`
}

function responseLine(request: JsonText, response: JsonText): string {
  return messageLine({ type: '"control_response"', request_id: request, response })
}
