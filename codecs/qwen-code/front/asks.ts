import * as v from 'valibot'
import { controlErrorText, controlResponse, dropped, messageLine, weakened } from '../../../src/codec-kit/index.ts'
import {
  type Ask,
  type AskReply,
  append,
  type Ext,
  type Id,
  isPlainChoice,
  isRecord,
  type JsonText,
  member,
  members,
  object,
  parse,
  type Question,
  quote,
  rest,
  type Target,
} from '../../../src/model/index.ts'
import { ControlResponse } from '../schema.ts'
import { ownExt } from '../wire.ts'
import type { Client } from './client.ts'
import type { Mode } from './flags.ts'
import { allow, deny, REFUSED, replyTo } from './replies.ts'

type Approval = Extract<Question, { kind: 'approval' }>

/** A question that the client was asked, by the id of its control request. */
interface Open {
  ask: Id
  target: Target
  question: Question
}

/** Tools that `auto-edit` consents to, by the names that Qwen Code gives them. */
const EDITING: ReadonlySet<string> = new Set(['edit', 'write_file', 'notebook_edit'])

const DECIDING: ReadonlySet<Mode> = new Set(['yolo', 'plan', 'auto-edit'])

const CLOSED = 'Input closed'

/** The agent's questions to the client, as control requests; the approval mode answers where it decides. */
export class FrontAsks {
  readonly #client: Client
  readonly #canAnswer: boolean
  readonly #open = new Map<string, Open>()
  #closed = false

  /** `canAnswer`: the client's input stays open while a turn runs. */
  constructor(client: Client, canAnswer: boolean) {
    this.#client = client
    this.#canAnswer = canAnswer
  }

  /** True when questions are answered here: by the client, or by its approval mode. */
  get available(): boolean {
    return this.decides || (this.#client.settings.initialized && this.#canAnswer && !this.#closed)
  }

  /** True when the approval mode alone answers some of them. */
  get decides(): boolean {
    return DECIDING.has(this.#client.settings.mode)
  }

  /** Puts a question to the client. */
  ask({ ask, question, ext }: Ask & { ext?: Ext }, turn: Id | undefined, exchange: Id | undefined): void {
    const open: Open = { ask, target: turn === undefined ? 'running' : { turn }, question }
    const settled = this.#answerFor(question)
    if (settled) {
      this.#reply(open, settled)
      return
    }
    const { ports, ids } = this.#client
    const request = requestOf(question, ask, ownExt(ext))
    if (request === undefined) {
      if (exchange !== undefined) ports.report(dropped('ask', question.kind), exchange)
      this.#reply(open, { kind: 'client', error: REFUSED })
      return
    }
    if (exchange !== undefined && question.kind === 'approval' && !isPlainChoice(question.options)) {
      ports.report(weakened('ask.approval', 'options', 'too-narrow'), exchange)
    }
    // An id that is unique wherever it comes from is kept; others might mean an earlier question of this client.
    const id = ids.of(ask)
    this.#open.set(id, open)
    ports.send(messageLine({ type: '"control_request"', request_id: quote(id), request }))
  }

  /** The question was settled without the client: an answer that still comes is ignored. */
  settled(ask: Id): void {
    for (const [id, open] of this.#open) if (open.ask === ask) this.#open.delete(id)
  }

  /** The turn is over. */
  forget(): void {
    this.#open.clear()
  }

  /** The client's input has ended: what is open is refused, and so is what comes. */
  close(): void {
    this.#closed = true
    for (const open of this.#open.values()) this.#reply(open, replyTo(open.question, undefined, CLOSED))
    this.#open.clear()
  }

  /** A `control_response`; the CLI ignores one that nothing waits for; here the client gets an error. */
  answer(value: Record<string, unknown>, json: JsonText): void {
    const { success, output } = v.safeParse(ControlResponse, value)
    if (!success) return
    const { request_id: id, subtype, error } = output.response
    const open = this.#open.get(id)
    if (!open) {
      const text = 'No control request with this request_id waits for an answer.'
      this.#client.ports.send(controlResponse(quote(id), { error: text }))
      return
    }
    this.#open.delete(id)
    const payload = subtype === 'success' ? member(member(json, 'response')!, 'response') : undefined
    this.#reply(open, replyTo(open.question, payload, controlErrorText(error)))
  }

  /** Returns the answer that needs no question to the client. */
  #answerFor(question: Question): AskReply | undefined {
    const { mode, initialized } = this.#client.settings
    if (question.kind === 'approval') {
      if (mode === 'yolo' || (mode === 'auto-edit' && EDITING.has(question.name))) return allow(question)
      if (mode === 'plan') return deny(question, 'Only plans are made in this mode.')
    }
    if (this.#closed) return replyTo(question, undefined, CLOSED)
    if (initialized && this.#canAnswer) return undefined
    return replyTo(question, undefined, 'This client cannot be asked.')
  }

  #reply({ ask, target }: Open, reply: AskReply): void {
    const { ports, session } = this.#client
    ports.command({ exchange: ports.newId(), session: { id: session }, type: 'ask-reply', target, ask, reply })
  }
}

/** The `request` of a control request; undefined when this wire has none for the question. */
function requestOf(question: Question, ask: Id, extra: JsonText = '{}'): JsonText | undefined {
  switch (question.kind) {
    case 'approval':
      return toolRequest({ ...question, tool: question.tool ?? ask }, extra, suggestionsOf(question))
    case 'input': {
      const asked = `{"questions":[{"question":${quote(question.message)},"header":"","options":[],"multiSelect":false}]}`
      const input = member(extra, 'input') ?? asked
      return toolRequest({ name: 'ask_user_question', tool: question.tool ?? ask, args: input }, extra, 'null')
    }
    case 'client':
      if (question.method !== 'mcp_message') return undefined
      return object({ subtype: '"mcp_message"' }, members(question.params))
    case 'tool':
      return undefined
  }
}

/** A `can_use_tool`, with the members that a client expects of every one, where the agent's own are not known. */
function toolRequest(
  { name, tool, args }: Pick<Approval, 'name' | 'args'> & { tool: Id },
  extra: JsonText,
  suggestions: JsonText,
): JsonText {
  const usual = object({ permission_suggestions: suggestions, blocked_path: 'null' })
  const own = new Set(members(extra).map(([key]) => key))
  return messageLine(
    {
      subtype: '"can_use_tool"',
      tool_name: quote(name),
      tool_use_id: quote(tool),
      input: isRecord(parse(args)) ? args : '{}',
    },
    append(extra, rest(usual, own)),
  )
}

function suggestionsOf({ options, description }: Approval): JsonText {
  const suggestions = options.map(({ kind, label = kind === 'allow' ? 'Allow' : 'Deny' }) => ({
    type: kind,
    label,
    ...(kind === 'allow' && { description }),
  }))
  return JSON.stringify(suggestions)
}
