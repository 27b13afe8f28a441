import * as v from 'valibot'
import {
  type ControlAsk,
  ControlAsks,
  type ControlVerdict,
  type JsonLine,
  type Reading,
} from '../../../src/codec-kit/index.ts'
import {
  type AskOption,
  type AskReply,
  append,
  type JsonText,
  type Member,
  member,
  members,
  object,
  type Question,
} from '../../../src/model/index.ts'
import { CanUseTool, ControlRequest, Questions } from '../schema.ts'
import { entriesExt, sameJson } from '../wire.ts'
import type { TurnDecoder } from './turn.ts'

const ASKED: ReadonlySet<string> = new Set(['subtype', 'tool_name', 'tool_use_id', 'input'])

/** The tool that puts a question to the user: its answers are the only change of arguments that the CLI heeds. */
const ASKING_TOOL = 'ask_user_question'

/** The CLI's questions to its host: consent to a tool, answers of the user, messages to an MCP server of the host. */
export class Asks extends ControlAsks<TurnDecoder> {
  /** A `control_request`. What cannot be asked is refused at once. */
  read(turn: TurnDecoder | undefined, { value, json }: JsonLine): Reading {
    const { success, output } = v.safeParse(ControlRequest, value)
    if (!success) return 'misfit'
    const request = member(json, 'request_id')!
    const asked = askedOf(output.request, member(json, 'request')!, turn !== undefined)
    if (!asked) {
      this.refuse(request, turn ? 'The host cannot answer this request.' : 'No turn is running.')
      return 'misfit'
    }
    this.put(request, asked, turn)
    return 'read'
  }

  /** Settles the questions about tools that ended unanswered: the CLI waited long enough (`timeout`), or was stopped. */
  toolEnded({ calls }: TurnDecoder, { json }: JsonLine): void {
    const how = json.includes('Control request timeout') ? 'timeout' : 'cancelled'
    this.settle(how, ({ tool }) => tool !== undefined && calls.running(tool) === undefined)
  }

  /** The turn ends: nothing of it can be answered any more. */
  turnEnds(): void {
    this.settle('cancelled', ({ tool }) => tool !== undefined)
  }
}

/** The question of a `request`, which is `raw` as it came; undefined when no client can be asked. */
function askedOf(request: { subtype: string }, raw: JsonText, running: boolean): ControlAsk | undefined {
  if (request.subtype === 'mcp_message') {
    const params = object(members(raw).filter(([key]) => key !== 'subtype'))
    return { question: { kind: 'client', method: 'mcp_message', params }, answer: mcpAnswer }
  }
  if (request.subtype !== 'can_use_tool' || !running) return undefined
  const { success, output } = v.safeParse(CanUseTool, request)
  if (!success) return undefined
  const input = member(raw, 'input')!
  const named = output.tool_use_id === '' ? {} : { tool: output.tool_use_id }
  const questions = output.tool_name === ASKING_TOOL ? v.safeParse(Questions, output.input) : undefined
  if (questions?.success) {
    return {
      question: { ...formOf(questions.output), ...named },
      tool: output.tool_use_id,
      ext: entriesExt({ input }, beyond(raw, ASKED)),
      answer: (reply) => formAnswer(reply, input),
    }
  }
  const allow = output.permission_suggestions?.find(({ type }) => type === 'allow')?.['description']
  const description = typeof allow === 'string' ? { description: allow } : {}
  const options = optionsOf(output)
  return {
    question: { kind: 'approval', ...named, name: output.tool_name, args: input, ...description, options },
    tool: output.tool_use_id,
    ext: entriesExt(beyond(raw, heldBy(output))),
    answer: (reply) => approvalAnswer(reply, input),
  }
}

/** The CLI runs the arguments it asked about, whatever comes back: consent to others is therefore a refusal. */
function approvalAnswer(reply: AskReply, input: JsonText): ControlVerdict | undefined {
  if (reply.kind !== 'approval') return undefined
  const allowed = reply.option === 'allow'
  const edited = allowed && reply.edited !== undefined && !sameJson(reply.edited, input)
  if (allowed && !edited) return { json: '{"behavior":"allow"}' }
  const unheeded = edited ? 'The arguments cannot be changed by the one who approves them.' : undefined
  const message = reply.message ?? unheeded
  const json = JSON.stringify({ behavior: 'deny', message, interrupt: reply.stopTurn })
  return { json, refused: true, edited, stops: reply.stopTurn === true }
}

/** The members that an approval holds: suggestions that are no more than its two options too. */
function heldBy({ permission_suggestions: suggestions }: CanUseTool): ReadonlySet<string> {
  return suggestions && isPlain(suggestions) ? new Set([...ASKED, 'permission_suggestions']) : ASKED
}

/** The members that the CLI adds to the question. */
function beyond(request: JsonText, known: ReadonlySet<string>): Member[] {
  return members(request).filter(([key, json]) => !known.has(key) && json !== 'null')
}

/** True for consent and refusal in this order, without more than a label and what consent is given to. */
function isPlain(suggestions: readonly { type?: string | undefined }[]): boolean {
  const keys = suggestions.map(({ type, ...rest }) => [type, ...Object.keys(rest)].join())
  return /^allow(,label)?(,description)?;deny(,label)?$/.test(keys.join(';'))
}

/** Consent and refusal; the wire has no others that it heeds. */
function optionsOf(asked: CanUseTool): AskOption[] {
  return (['allow', 'deny'] as const).map((kind) => {
    const label = asked.permission_suggestions?.find(({ type }) => type === kind)?.label
    return { id: kind, kind, scope: 'once', ...(label !== undefined && { label }) }
  })
}

/** The questions as one form: a field for each, under the number that its answer goes by. */
function formOf({ questions }: Questions): Extract<Question, { kind: 'input' }> {
  const fields = questions.map(({ question, options }) => ({
    type: 'string',
    description: question,
    ...(options.length > 0 && { examples: options.map(({ label }) => label) }),
  }))
  const schema = JSON.stringify({ type: 'object', properties: { ...fields } })
  return { kind: 'input', message: questions.map(({ question }) => question).join('\n'), schema }
}

function formAnswer(reply: AskReply, input: JsonText): ControlVerdict | undefined {
  if (reply.kind !== 'input') return undefined
  if (members(reply.values).length === 0) {
    return { json: '{"behavior":"deny","message":"The user did not answer."}', refused: true }
  }
  const updated = append(object(members(input).filter(([key]) => key !== 'answers')), `{"answers":${reply.values}}`)
  return { json: `{"behavior":"allow","updatedInput":${updated}}` }
}

function mcpAnswer(reply: AskReply): ControlVerdict | undefined {
  if (reply.kind !== 'client' || reply.result === undefined) return undefined
  return { json: `{"subtype":"mcp_message","mcp_response":${reply.result}}` }
}
