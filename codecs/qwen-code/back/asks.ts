import * as v from 'valibot'
import { askIdOf } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  type AskOption,
  type AskReply,
  append,
  type CommandOf,
  type Id,
  type JsonText,
  member,
  members,
  object,
  type Question,
  quote,
} from '../../../src/model/index.ts'
import { CanUseTool, ControlRequest, Questions } from '../schema.ts'
import { sameJson, toExt } from '../wire.ts'
import type { Line, Reading } from './lines.ts'
import type { TurnDecoder } from './turn.ts'
import type { AgentWire } from './wire.ts'

/** An open question of the agent: how its answer is written. */
interface Open {
  /** Its id, as the agent wrote it. */
  request: JsonText
  tool: Id | undefined
  answer(reply: AskReply): Verdict | undefined
}

/** The payload of an answer, and whether it refuses the tool or stops the turn. */
interface Verdict {
  json: JsonText
  refused?: true
  stopTurn?: true
}

const ASKED = new Set(['subtype', 'tool_name', 'tool_use_id', 'input'])

/** The tool that puts a question to the user: its answers are the only change of arguments that the CLI heeds. */
const ASKING_TOOL = 'ask_user_question'

/** The CLI's questions to its host: consent to a tool, answers of the user, messages to an MCP server of the host. */
export class Asks {
  readonly #ports: BackPorts
  readonly #wire: AgentWire
  readonly #open = new Map<Id, Open>()

  constructor(ports: BackPorts, wire: AgentWire) {
    this.#ports = ports
    this.#wire = wire
  }

  /** A `control_request`. What cannot be asked is refused at once, because the CLI would wait for its answer. */
  read(turn: TurnDecoder | undefined, { value, json }: Line): Reading {
    const { success, output } = v.safeParse(ControlRequest, value)
    if (!success) return 'misfit'
    const request = member(json, 'request')!
    const id = member(json, 'request_id')!
    if (output.request.subtype === 'mcp_message') {
      this.#ask(turn, id, undefined, mcpQuestion(request), undefined, mcpAnswer)
      return 'read'
    }
    const wanted = output.request.subtype === 'can_use_tool' ? v.safeParse(CanUseTool, output.request) : undefined
    if (turn && wanted?.success) {
      this.#askTool(turn, id, wanted.output, request)
      return 'read'
    }
    this.#wire.refuse(id, turn ? 'The host cannot answer this request.' : 'No turn is running.')
    return 'misfit'
  }

  /** The client's answer; one for a question that is settled already is ignored. True when the turn is to be stopped. */
  reply(command: CommandOf<'ask-reply'>, turn: TurnDecoder | undefined): boolean {
    const ask = command.ask ?? [...this.#open.keys()].at(0)
    const open = ask === undefined ? undefined : this.#open.get(ask)
    if (!open) return false
    this.#open.delete(ask!)
    const verdict = open.answer(command.reply)
    if (verdict) this.#wire.answer(open.request, verdict.json)
    else this.#wire.refuse(open.request, 'The host gave an answer of another kind.')
    if ((!verdict || verdict.refused) && open.tool !== undefined) turn?.tools.deny(open.tool)
    return verdict?.stopTurn === true
  }

  /** The tool ended although nobody answered: the CLI waited long enough, or was stopped. */
  toolEnded(turn: TurnDecoder, line: Line): void {
    for (const [ask, { tool }] of this.#open) {
      if (tool === undefined || turn.tools.has(tool)) continue
      this.#settle(turn, ask, line.json.includes('Control request timeout') ? 'timeout' : 'cancelled')
    }
  }

  /** The turn ends: nothing of it can be answered any more. */
  turnEnds(turn: TurnDecoder): void {
    for (const [ask, { tool }] of this.#open) if (tool !== undefined) this.#settle(turn, ask, 'cancelled')
  }

  #settle(turn: TurnDecoder, ask: Id, how: 'timeout' | 'cancelled'): void {
    this.#open.delete(ask)
    turn.main.out.emit({ type: 'ask-settled', ask, how })
  }

  #askTool(turn: TurnDecoder, id: JsonText, asked: CanUseTool, request: JsonText): void {
    const input = member(request, 'input')!
    const tool = asked.tool_use_id
    const questions = asked.tool_name === ASKING_TOOL ? v.safeParse(Questions, asked.input) : undefined
    if (questions?.success) {
      const question = { ...inputQuestion(questions.output), ...(tool !== '' && { tool }) }
      const extra = append(object([['input', input]]), beyond(request, ASKED))
      this.#ask(turn, id, tool, question, extra, (reply) => inputAnswer(reply, input))
      return
    }
    const question: Question = {
      kind: 'approval',
      ...(tool !== '' && { tool }),
      name: asked.tool_name,
      args: input,
      ...describe(asked),
      options: optionsOf(asked),
    }
    this.#ask(turn, id, tool, question, beyond(request, heldBy(asked)), (reply) => this.#approval(turn, reply, input))
  }

  #ask(
    turn: TurnDecoder | undefined,
    request: JsonText,
    tool: Id | undefined,
    question: Question,
    extra: JsonText | undefined,
    answer: Open['answer'],
  ): void {
    const ask = askIdOf(request, this.#open)
    this.#open.set(ask, { request, tool, answer })
    const ext = toExt(extra)
    this.#ports.emit({ turn: turn?.turn ?? null, type: 'ask', ask, question, ...(ext && { ext }) })
  }

  /** The CLI runs the arguments it asked about, whatever comes back: consent to others is therefore a refusal. */
  #approval(turn: TurnDecoder, reply: AskReply, input: JsonText): Verdict | undefined {
    if (reply.kind !== 'approval') return undefined
    const edited = reply.edited !== undefined && !sameJson(reply.edited, input)
    if (reply.option === 'allow' && !edited) return { json: '{"behavior":"allow"}' }
    if (reply.option === 'allow') {
      this.#ports.report({ kind: 'weakened', item: 'ask-reply', field: 'edited', why: 'no-place', count: 1 }, turn.turn)
    }
    const unheeded =
      reply.option === 'allow' ? 'The arguments cannot be changed by the one who approves them.' : undefined
    const message = reply.message ?? unheeded
    const json = object([
      ['behavior', '"deny"'],
      ['message', message === undefined ? undefined : quote(message)],
      ['interrupt', reply.stopTurn && 'true'],
    ])
    return { json, refused: true, ...(reply.stopTurn && { stopTurn: true }) }
  }
}

/** The members that an approval holds: suggestions that are no more than its two options too. */
function heldBy({ permission_suggestions: suggestions }: CanUseTool): ReadonlySet<string> {
  return suggestions && isPlain(suggestions) ? new Set([...ASKED, 'permission_suggestions']) : ASKED
}

/** The members that the CLI adds to the question. */
function beyond(request: JsonText, known: ReadonlySet<string>): JsonText | undefined {
  const entries = members(request).filter(([key, json]) => !known.has(key) && json !== 'null')
  return entries.length === 0 ? undefined : object(entries)
}

/** True for consent and refusal in this order, without more than a label and what consent is given to. */
function isPlain(suggestions: readonly { type?: string | undefined }[]): boolean {
  const keys = suggestions.map(({ type, ...rest }) => [type, ...Object.keys(rest)].join())
  return /^allow(,label)?(,description)?;deny(,label)?$/.test(keys.join(';'))
}

/** The label and the description that the CLI gives to consent. */
function describe(asked: CanUseTool): { description?: string } {
  const allow = asked.permission_suggestions?.find(({ type }) => type === 'allow')
  const text = allow?.['description']
  return typeof text === 'string' ? { description: text } : {}
}

/** Consent and refusal; the wire has no others that it heeds. */
function optionsOf(asked: CanUseTool): AskOption[] {
  return (['allow', 'deny'] as const).map((kind) => {
    const label = asked.permission_suggestions?.find(({ type }) => type === kind)?.label
    return { id: kind, kind, scope: 'once', ...(label !== undefined && { label }) }
  })
}

/** The questions as one form: a field for each, under the number that its answer goes by. */
function inputQuestion({ questions }: Questions): Extract<Question, { kind: 'input' }> {
  const fields = questions.map(({ question, options }, at) => {
    const labels = options.map(({ label }) => quote(label))
    const choice = labels.length === 0 ? undefined : `[${labels.join(',')}]`
    return [
      String(at),
      object([
        ['type', '"string"'],
        ['description', quote(question)],
        ['examples', choice],
      ]),
    ] as const
  })
  const schema = object([
    ['type', '"object"'],
    ['properties', object(fields)],
  ])
  return { kind: 'input', message: questions.map(({ question }) => question).join('\n'), schema }
}

function inputAnswer(reply: AskReply, input: JsonText): Verdict | undefined {
  if (reply.kind !== 'input') return undefined
  if (members(reply.values).length === 0) {
    return { json: '{"behavior":"deny","message":"The user did not answer."}', refused: true }
  }
  const updated = append(object(members(input).filter(([key]) => key !== 'answers')), `{"answers":${reply.values}}`)
  return { json: `{"behavior":"allow","updatedInput":${updated}}` }
}

function mcpQuestion(request: JsonText): Question {
  const params = object(members(request).filter(([key]) => key !== 'subtype'))
  return { kind: 'client', method: 'mcp_message', params }
}

function mcpAnswer(reply: AskReply): Verdict | undefined {
  if (reply.kind !== 'client' || reply.result === undefined) return undefined
  return { json: `{"subtype":"mcp_message","mcp_response":${reply.result}}` }
}
