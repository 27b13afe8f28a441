import { controlErrorText } from '../../../src/codec-kit/index.ts'
import {
  type Ask,
  type AskOption,
  type AskReply,
  asJson,
  type EventOf,
  type Ext,
  type Id,
  isRecord,
  type JsonText,
  type Members,
  member,
  narrowestOption,
  object,
  type Part,
  parseObject,
  quote,
} from '../../../src/model/index.ts'
import { ownMember } from '../wire.ts'
import type { Lines } from './lines.ts'

/** Words of a `behavior` that allow; every other one denies. */
const ALLOWING: ReadonlySet<unknown> = new Set(['approve', 'allow'])

/** The questions of one turn: `control_request` lines and the calls that the client runs. */
export class FrontAsks {
  readonly #lines: Lines
  readonly #turn: Id
  /** By the id that the client knows. */
  readonly #open = new Map<string, Ask>()

  constructor(lines: Lines, turn: Id) {
    this.#lines = lines
    this.#turn = turn
  }

  /** Puts a question to the client. The call of a client's tool was written before, so nothing is written here. */
  ask(ask: EventOf<'ask'>): void {
    const id = this.#lines.client.askIds.of(ask.ask)
    this.#open.set(id, ask)
    const entries = requestOf(ask, ask.ext)
    if (entries) this.#lines.write('control_request', { request_id: quote(id), ...entries }, ask.ext)
  }

  /** The question needs no answer any more. */
  settled(ask: Id): void {
    for (const [id, open] of this.#open) if (open.ask === ask) this.#open.delete(id)
  }

  /** Takes a `control_response` (its raw `response`); false when no question has this id. */
  answer(request: string, response: JsonText): boolean {
    const ask = this.#open.get(request)
    if (!ask || ask.question.kind === 'tool') return false
    this.#reply(ask.ask, replyOf(ask, response))
    return true
  }

  /** Takes the result of a tool that the client ran; false when the turn does not wait for it. */
  toolResult(tool: string, parts: readonly Part[]): boolean {
    for (const { ask, question } of this.#open.values()) {
      if (question.kind !== 'tool' || question.tool !== tool) continue
      const [only] = parts
      const reply: AskReply =
        parts.length === 1 && only?.type === 'tool-reply'
          ? { kind: 'tool', status: only.status, parts: only.parts }
          : { kind: 'tool', status: 'ok', parts }
      this.#reply(ask, reply)
      return true
    }
    return false
  }

  #reply(ask: Id, reply: AskReply): void {
    this.settled(ask)
    const { client, place } = this.#lines
    const exchange = client.ports.newId()
    const session = { id: place.session }
    client.ports.command({ exchange, session, type: 'ask-reply', target: { turn: this.#turn }, ask, reply })
  }
}

/** The members of the `control_request` of a question; undefined when it needs none. */
function requestOf({ question }: Ask, ext: Ext | undefined): Members | undefined {
  switch (question.kind) {
    case 'approval': {
      const { tool: id, name, args, description: reason } = question
      const tool = object({ id: quote(id), name: quote(name), arguments: asJson(args) })
      const options = question.options.map(({ id, kind, scope, label }) => ({ id, kind, scope, label }))
      const metadata = ownMember(ext, 'metadata') ?? JSON.stringify({ reason, options })
      return { subtype: '"can_use_tool"', tool, metadata }
    }
    case 'client':
      return { subtype: quote(question.method), payload: question.params }
    default:
      return undefined
  }
}

/** Reads the client's `response` to a question. An error, and every behaviour that does not allow, is a refusal. */
function replyOf({ question }: Ask, response: JsonText): AskReply {
  const { subtype, error } = parseObject(response)!
  if (subtype === 'error' || error != null) {
    const text = controlErrorText(error)
    if (question.kind === 'approval') return approval(question.options, 'deny', undefined, text)
    const said = isRecord(error) ? member(response, 'error')! : JSON.stringify({ message: text ?? 'Refused.' })
    return { kind: 'client', error: said }
  }
  const result = member(response, 'result') ?? 'null'
  if (question.kind !== 'approval') {
    return { kind: 'client', result: member(result, 'mcp_response') ?? member(response, 'mcp_response') ?? result }
  }
  const { behavior, message, option } = parseObject(result) ?? {}
  if (!ALLOWING.has(behavior)) return approval(question.options, 'deny', option, message)
  const edited = member(result, 'updated_arguments')
  return { ...approval(question.options, 'allow', option, message), ...(edited?.startsWith('{') && { edited }) }
}

/** The answer to an approval: the option that the client named, if it is of this kind; else the narrowest of the kind. */
function approval(
  options: readonly AskOption[],
  kind: AskOption['kind'],
  named: unknown,
  message: unknown,
): Extract<AskReply, { kind: 'approval' }> {
  const chosen = options.find((one) => one.kind === kind && one.id === named) ?? narrowestOption(options, kind)
  return { kind: 'approval', option: chosen?.id ?? kind, ...(typeof message === 'string' && { message }) }
}
