import * as v from 'valibot'
import { messageLine } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type Ask,
  type AskOption,
  type AskReply,
  append,
  type CommandOf,
  type Ext,
  type Id,
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
import { ControlResponse, Verdict } from '../schema.ts'
import { ownExt, sameJson } from '../wire.ts'
import type { Mode } from './args.ts'
import type { ClientState } from './state.ts'

type Approval = Extract<Question, { kind: 'approval' }>

/** A question that the client was asked, by the id of its control request. */
interface Open {
  ask: Id
  target: Target
  question: Question
}

/** The client's answer: the raw payload, or the fault for a missing one. */
type Said = { payload: JsonText } | { error: string }

/** Tools that `auto-edit` consents to, by the names that Qwen Code gives them. */
const EDITING: ReadonlySet<string> = new Set(['edit', 'write_file', 'notebook_edit'])

const DECIDING: ReadonlySet<Mode> = new Set(['yolo', 'plan', 'auto-edit'])

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

const REFUSED = '{"code":-32601,"message":"The client has no place for this request."}'

/** The agent's questions to the client, as control requests; the approval mode answers where it decides. */
export class FrontAsks {
  readonly #ports: FrontPorts
  readonly #state: ClientState
  readonly #canAnswer: boolean
  readonly #open = new Map<string, Open>()
  #closed = false

  /** `canAnswer`: the client's input stays open while a turn runs. */
  constructor(ports: FrontPorts, state: ClientState, canAnswer: boolean) {
    this.#ports = ports
    this.#state = state
    this.#canAnswer = canAnswer
  }

  /** True when questions are answered here: by the client, or by its approval mode. */
  get available(): boolean {
    return this.decides || (this.#state.initialized && this.#canAnswer && !this.#closed)
  }

  /** True when the approval mode alone answers some of them. */
  get decides(): boolean {
    return DECIDING.has(this.#state.mode)
  }

  /** Puts a question to the client. */
  ask({ ask, question, ext }: Ask & { ext?: Ext }, turn: Id | undefined, exchange: Id | undefined): void {
    const open: Open = { ask, target: turn === undefined ? 'running' : { turn }, question }
    const settled = this.#answerFor(question)
    if (settled) {
      this.#reply(open, settled)
      return
    }
    const request = requestOf(question, ask, ownExt(ext))
    if (request === undefined) {
      if (exchange !== undefined) {
        this.#ports.report({ kind: 'dropped', item: 'ask', field: question.kind, why: 'no-place', count: 1 }, exchange)
      }
      this.#reply(open, { kind: 'client', error: REFUSED })
      return
    }
    if (exchange !== undefined && question.kind === 'approval' && !isPlain(question.options)) {
      this.#ports.report(
        { kind: 'weakened', item: 'ask.approval', field: 'options', why: 'too-narrow', count: 1 },
        exchange,
      )
    }
    const id = this.#idOf(ask)
    this.#open.set(id, open)
    this.#ports.send(
      messageLine([
        ['type', '"control_request"'],
        ['request_id', quote(id)],
        ['request', request],
      ]),
    )
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
    for (const open of this.#open.values()) this.#reply(open, replyTo(open.question, { error: 'Input closed' }))
    this.#open.clear()
  }

  /** A `control_response`; the CLI ignores one that nothing waits for; here the client gets an error. */
  answer(value: Record<string, unknown>, json: JsonText): void {
    const { success, output } = v.safeParse(ControlResponse, value)
    if (!success) return
    const { request_id: id, subtype, error } = output.response
    const open = this.#open.get(id)
    if (!open) {
      this.#refuse(id)
      return
    }
    this.#open.delete(id)
    const payload = member(member(json, 'response')!, 'response')
    const text = isRecord(error) ? error['message'] : error
    const said: Said =
      subtype === 'success' && payload !== undefined ? { payload } : { error: typeof text === 'string' ? text : '' }
    this.#reply(open, replyTo(open.question, said))
  }

  /** An id that is unique wherever it comes from is kept; others might mean an earlier question of this client. */
  #idOf(ask: Id): string {
    return UUID.test(ask) ? ask : this.#state.ids.next()
  }

  /** Returns the answer that needs no question to the client. */
  #answerFor(question: Question): AskReply | undefined {
    const { mode, initialized } = this.#state
    if (question.kind === 'approval') {
      if (mode === 'yolo' || (mode === 'auto-edit' && EDITING.has(question.name))) return allow(question)
      if (mode === 'plan') return deny(question, 'Only plans are made in this mode.')
    }
    if (this.#closed) return replyTo(question, { error: 'Input closed' })
    return initialized && this.#canAnswer ? undefined : replyTo(question, { error: 'This client cannot be asked.' })
  }

  #refuse(id: string): void {
    const response = object([
      ['subtype', '"error"'],
      ['request_id', quote(id)],
      ['error', '"No control request with this request_id waits for an answer."'],
    ])
    this.#ports.send(
      messageLine([
        ['type', '"control_response"'],
        ['response', response],
      ]),
    )
  }

  #reply({ ask, target }: Open, reply: AskReply): void {
    const command: CommandOf<'ask-reply'> = {
      exchange: this.#ports.newId(),
      session: { id: this.#state.session },
      type: 'ask-reply',
      target,
      ask,
      reply,
    }
    this.#ports.command(command)
  }
}

/** The `request` of a control request; undefined when this wire has none for the question. */
function requestOf(question: Question, ask: Id, extra: JsonText | undefined): JsonText | undefined {
  switch (question.kind) {
    case 'approval':
      return messageLine(
        [
          ['subtype', '"can_use_tool"'],
          ['tool_name', quote(question.name)],
          ['tool_use_id', quote(question.tool ?? ask)],
          ['input', isRecord(parse(question.args)) ? question.args : '{}'],
        ],
        append(extra ?? '{}', rest(usual(question), keysOf(extra))),
      )
    case 'input': {
      const asked = `{"questions":[{"question":${quote(question.message)},"header":"","options":[],"multiSelect":false}]}`
      return messageLine(
        [
          ['subtype', '"can_use_tool"'],
          ['tool_name', '"ask_user_question"'],
          ['tool_use_id', quote(question.tool ?? ask)],
          ['input', member(extra ?? '{}', 'input') ?? asked],
        ],
        append(extra ?? '{}', rest(NO_SUGGESTIONS, keysOf(extra))),
      )
    }
    case 'client':
      if (question.method !== 'mcp_message') return undefined
      return object([['subtype', '"mcp_message"'], ...members(question.params)])
    case 'tool':
      return undefined
  }
}

/** The members that a client expects of a question, where the agent's own are not known. */
const NO_SUGGESTIONS = '{"permission_suggestions":null,"blocked_path":null}'

/** The members that a client expects of every approval, where the agent's own are not known. */
function usual(question: Approval): JsonText {
  return object([
    ['permission_suggestions', `[${question.options.map((option) => suggestion(option, question)).join(',')}]`],
    ['blocked_path', 'null'],
  ])
}

function keysOf(json: JsonText | undefined): ReadonlySet<string> {
  return new Set(json === undefined ? [] : members(json).map(([key]) => key))
}

/** True for one consent and one refusal, both for this once: all that a client can choose from. */
function isPlain(options: readonly AskOption[]): boolean {
  const kinds = new Set(options.map(({ kind }) => kind))
  return kinds.size === options.length && options.every(({ scope }) => scope === 'once')
}

function suggestion({ kind, label }: AskOption, { description }: Approval): JsonText {
  return object([
    ['type', quote(kind)],
    ['label', quote(label ?? (kind === 'allow' ? 'Allow' : 'Deny'))],
    ['description', kind === 'allow' && description !== undefined ? quote(description) : undefined],
  ])
}

/** Reads the client's answer to this question. Every behaviour but `allow` refuses. */
function replyTo(question: Question, said: Said): AskReply {
  switch (question.kind) {
    case 'approval':
      return 'payload' in said ? verdict(question, said.payload) : deny(question, said.error)
    case 'input': {
      const answers = 'payload' in said && isAllowed(said.payload) ? answersOf(said.payload) : undefined
      return { kind: 'input', values: answers ?? '{}' }
    }
    case 'client': {
      const result = 'payload' in said ? member(said.payload, 'mcp_response') : undefined
      return result === undefined ? { kind: 'client', error: REFUSED } : { kind: 'client', result }
    }
    case 'tool':
      return { kind: 'tool', status: 'denied', parts: [] }
  }
}

function verdict(question: Approval, payload: JsonText): AskReply {
  const read = v.safeParse(Verdict, parse(payload))
  if (!read.success || !isAllowed(payload)) {
    const { message, interrupt } = read.success ? read.output : { message: undefined, interrupt: false }
    return { ...deny(question, message), ...(interrupt && { stopTurn: true as const }) }
  }
  const edited = member(payload, 'updatedInput')
  const changed = edited !== undefined && isRecord(parse(edited)) && !sameJson(edited, question.args)
  return { ...allow(question), ...(changed && { edited }) }
}

function isAllowed(payload: JsonText): boolean {
  const read = v.safeParse(Verdict, parse(payload))
  return read.success && read.output.behavior.toLowerCase() === 'allow'
}

function answersOf(payload: JsonText): JsonText | undefined {
  const updated = member(payload, 'updatedInput')
  const answers = updated === undefined ? undefined : member(updated, 'answers')
  return answers !== undefined && isRecord(parse(answers)) ? answers : undefined
}

/** Consent with the narrowest scope that the agent offers. */
function allow(question: Approval): Extract<AskReply, { kind: 'approval' }> {
  const offered = question.options.filter(({ kind }) => kind === 'allow')
  const option = offered.find(({ scope }) => scope === 'once') ?? offered.at(0)
  return option ? { kind: 'approval', option: option.id } : deny(question, 'The agent offers no consent.')
}

function deny(question: Approval, message: string | undefined): Extract<AskReply, { kind: 'approval' }> {
  const offered = question.options.filter(({ kind }) => kind === 'deny')
  const option = offered.find(({ scope }) => scope === 'once') ?? offered.at(0)
  return { kind: 'approval', option: option?.id ?? 'deny', ...(message && { message }) }
}
