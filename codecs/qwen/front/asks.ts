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
  parse,
  parseObject,
  type Question,
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
      const own = ownMember(ext, 'metadata')
      const tool = object({
        id: quote(question.tool),
        name: quote(question.name),
        arguments: asJson(question.args),
      })
      const metadata = object({
        reason: quote(question.description),
        options: `[${question.options.map(optionJson).join(',')}]`,
      })
      return { subtype: '"can_use_tool"', tool, metadata: own ?? metadata }
    }
    case 'client':
      return { subtype: quote(question.method), payload: question.params }
    default:
      return undefined
  }
}

function optionJson({ id, kind, scope, label }: AskOption): JsonText {
  return object({
    id: quote(id),
    kind: quote(kind),
    scope: quote(scope),
    label: quote(label),
  })
}

/** Reads the client's `response` to a question. An error, and every behaviour that does not allow, is a refusal. */
function replyOf({ question }: Ask, response: JsonText): AskReply {
  const value = parseObject(response)!
  const error = member(response, 'error')
  if (value['subtype'] === 'error' || (error !== undefined && error !== 'null')) {
    const text = isRecord(value['error']) ? value['error']['message'] : value['error']
    return refusalOf(question, typeof text === 'string' ? text : undefined, error)
  }
  const result = member(response, 'result') ?? 'null'
  if (question.kind !== 'approval') {
    return { kind: 'client', result: member(result, 'mcp_response') ?? member(response, 'mcp_response') ?? result }
  }
  const { behavior, message, option } = parseObject(result) ?? {}
  if (!ALLOWING.has(behavior))
    return refusalOf(question, typeof message === 'string' ? message : undefined, undefined, option)
  const edited = member(result, 'updated_arguments')
  return {
    kind: 'approval',
    option: optionOf(question.options, 'allow', option),
    ...(edited?.startsWith('{') && { edited }),
    ...(typeof message === 'string' && { message }),
  }
}

function refusalOf(question: Question, message: string | undefined, error?: JsonText, option?: unknown): AskReply {
  if (question.kind === 'approval') {
    const denied = optionOf(question.options, 'deny', option)
    return { kind: 'approval', option: denied, ...(message !== undefined && { message }) }
  }
  const said = isRecord(parse(error ?? '')) ? error! : object({ message: quote(message ?? 'Refused.') })
  return { kind: 'client', error: said }
}

/** The option that the client named, if it is of this kind; else the narrowest one of the kind. */
function optionOf(all: readonly AskOption[], kind: AskOption['kind'], named: unknown): string {
  const chosen = all.find((option) => option.kind === kind && option.id === named) ?? narrowestOption(all, kind)
  return chosen?.id ?? kind
}
