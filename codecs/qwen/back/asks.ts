import * as v from 'valibot'
import { askIdOf, messageLine } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type Ask,
  type AskOption,
  type AskReply,
  type CommandOf,
  elements,
  type JsonText,
  member,
  object,
  parseObject,
  type Question,
  quote,
} from '../../../src/model/index.ts'
import { ControlRequest } from '../schema.ts'
import { entriesExt } from '../wire.ts'

/** The choices of an approval that names none. */
const OPTIONS: readonly AskOption[] = [
  { id: 'approve', kind: 'allow', scope: 'once' },
  { id: 'deny', kind: 'deny', scope: 'once' },
]

interface Open {
  /** The id of its request, as the agent wrote it. */
  request: JsonText
  question: Question
  subtype: string
  /** True when the agent named the choices, so that the answer names the chosen one. */
  named: boolean
}

/** The `control_request`s of an agent and the answers to them. */
export class BackAsks {
  readonly #ports: BackPorts
  readonly #open = new Map<string, Open>()

  constructor(ports: BackPorts) {
    this.#ports = ports
  }

  /**
   * Takes a `control_request` of the turn, whose tools go by `toolOf`; false when it has not the shape of one. Without
   * a turn nobody can be asked: it is refused at once.
   */
  request(
    value: object,
    line: JsonText,
    turn: string | undefined,
    toolOf: (id: string) => string | undefined,
  ): boolean {
    const { success, output } = v.safeParse(ControlRequest, value)
    if (!success) return false
    const { subtype } = output
    const request = member(line, 'request_id')!
    if (turn === undefined) {
      this.#ports.send(refusalLine(request, 'No turn is running: nobody can be asked.'))
      return true
    }
    const found = subtype === 'can_use_tool' ? approvalOf(line, toolOf) : clientQuestion(subtype, line)
    const { question, named } = found
    const ask = askIdOf(request, this.#open)
    this.#open.set(ask, { request, question, subtype, named })
    const metadata = member(line, 'metadata')
    const ext = entriesExt([['metadata', subtype === 'can_use_tool' ? metadata : undefined]])
    const event: Ask = { ask, question }
    this.#ports.emit({ turn, type: 'ask', ...event, ...(ext && { ext }) })
    return true
  }

  /** Sends the answer to a question; a question that is not open any more gets none. */
  reply({ ask, reply }: CommandOf<'ask-reply'>): void {
    const open = ask === undefined ? undefined : this.#open.get(ask)
    if (ask === undefined || !open) return
    this.#open.delete(ask)
    this.#ports.send(responseLine(open, reply))
  }

  /** The turn is over, and with it its questions. */
  clear(): void {
    this.#open.clear()
  }
}

/** An approval in either of its shapes: `tool` and `metadata` side by side, or both within `payload`. */
function approvalOf(
  line: JsonText,
  toolOf: (id: string) => string | undefined,
): { question: Question; named: boolean } {
  const payload = member(line, 'payload') ?? '{}'
  const tool = member(line, 'tool') ?? member(payload, 'tool') ?? payload
  const metadata = member(line, 'metadata') ?? member(payload, 'metadata') ?? payload
  const about = parseObject(metadata) ?? {}
  const fields = parseObject(tool) ?? {}
  const id = fields['id'] ?? fields['tool_call_id'] ?? fields['tool_use_id']
  const known = typeof id === 'string' || typeof id === 'number' ? (toolOf(String(id)) ?? String(id)) : undefined
  const name = fields['name'] ?? fields['tool_name']
  const description = about['reason'] ?? about['description']
  const named = elements(member(metadata, 'options') ?? '').flatMap(readOption)
  const both = named.some(({ kind }) => kind === 'allow') && named.some(({ kind }) => kind === 'deny')
  const question: Question = {
    kind: 'approval',
    ...(known !== undefined && { tool: known }),
    name: typeof name === 'string' ? name : 'tool',
    args: member(tool, 'arguments') ?? member(tool, 'input') ?? '{}',
    ...(typeof description === 'string' && { description }),
    options: both ? named : OPTIONS,
  }
  return { question, named: both }
}

function readOption(json: JsonText): AskOption[] {
  const { id, kind, scope, label } = parseObject(json) ?? {}
  if (typeof id !== 'string' || (kind !== 'allow' && kind !== 'deny')) return []
  const wide = scope === 'session' || scope === 'always' ? scope : 'once'
  return [{ id, kind, scope: wide, ...(typeof label === 'string' && { label }) }]
}

const ENVELOPE: readonly string[] = ['type', 'request_id', 'subtype', 'session_id', 'prompt_id']

/** Any other question: its `payload`, or everything that is not the envelope. */
function clientQuestion(method: string, line: JsonText): { question: Question; named: false } {
  const entries = Object.keys(parseObject(line)!)
    .filter((key) => !ENVELOPE.includes(key))
    .map((key) => [key, member(line, key)] as const)
  const params = member(line, 'payload') ?? object(entries)
  return { question: { kind: 'client', method, params }, named: false }
}

function responseLine(open: Open, reply: AskReply): string {
  const { request } = open
  if (reply.kind === 'approval') return respond(request, 'success', approvalJson(open, reply))
  if (reply.kind === 'client' && reply.error === undefined) {
    const result = reply.result ?? 'null'
    return respond(request, 'success', open.subtype === 'mcp_message' ? `{"mcp_response":${result}}` : result)
  }
  const message = reply.kind === 'client' ? member(reply.error!, 'message') : undefined
  return refusalLine(request, message === undefined ? 'The client refused.' : String(JSON.parse(message)))
}

function approvalJson({ question, named }: Open, reply: Extract<AskReply, { kind: 'approval' }>): JsonText {
  const options = question.kind === 'approval' ? question.options : []
  const chosen = options.find(({ id }) => id === reply.option)
  return object([
    ['behavior', chosen?.kind === 'allow' ? '"approve"' : '"deny"'],
    ['option', named && chosen ? quote(chosen.id) : undefined],
    ['message', reply.message === undefined ? undefined : quote(reply.message)],
    ['updated_arguments', reply.edited],
  ])
}

function respond(request: JsonText, subtype: 'success', result: JsonText): string {
  return messageLine([
    ['type', '"control_response"'],
    ['request_id', request],
    ['response', `{"subtype":"${subtype}","result":${result}}`],
  ])
}

function refusalLine(request: JsonText, message: string): string {
  const error = `{"message":${quote(message)},"retryable":false}`
  return messageLine([
    ['type', '"control_response"'],
    ['request_id', request],
    ['response', `{"subtype":"error","error":${error}}`],
  ])
}
