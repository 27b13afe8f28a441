import * as v from 'valibot'
import { type ControlAsk, type ControlVerdict, scalarText } from '../../../src/codec-kit/index.ts'
import {
  type AskOption,
  type AskReply,
  append,
  elements,
  isRecord,
  type JsonText,
  member,
  members,
  object,
  parse,
  parseObject,
  type Question,
  quote,
} from '../../../src/model/index.ts'
import { CanUseTool, Elicitation, Questions } from '../schema.ts'

/** The tool that puts questions to the user: its answers are a change of its arguments. */
const ASKING_TOOL = 'AskUserQuestion'

const REFUSED = 'The user does not want this.'

/** Reads a request of the agent, which is `raw` as it came; undefined when no client can answer it. */
export function readQuestion(request: Record<string, unknown>, raw: JsonText): ControlAsk | undefined {
  switch (request['subtype']) {
    case 'can_use_tool':
      return v.is(CanUseTool, request) ? consentTo(request, raw) : undefined
    case 'elicitation':
      return v.is(Elicitation, request) ? elicitation(request, raw) : undefined
    case 'mcp_message':
      return toClient('mcp_message', raw, (result) => `{"mcp_response":${result}}`)
    case 'hook_callback':
      return toClient('hook_callback', raw, (result) => result)
    default:
      return undefined
  }
}

function consentTo(request: v.InferOutput<typeof CanUseTool>, raw: JsonText): ControlAsk {
  const { tool_name: name, tool_use_id: id, input } = request
  const args = member(raw, 'input')!
  const about = id === undefined ? {} : { tool: id }
  if (name === ASKING_TOOL && v.is(Questions, input)) {
    return { ...about, question: { ...formOf(input), ...about }, answer: (reply) => formAnswer(reply, args, input) }
  }
  const suggestions = elements(member(raw, 'permission_suggestions') ?? '').filter(
    (one) => parseObject(one) !== undefined,
  )
  const description = request.decision_reason ?? request.description
  const question: Question = {
    kind: 'approval',
    ...about,
    name,
    args,
    ...(description !== undefined && { description }),
    options: [
      { id: 'allow', kind: 'allow', scope: 'once' },
      ...suggestions.map(suggestedOption),
      { id: 'deny', kind: 'deny', scope: 'once' },
    ],
    editable: true,
  }
  return { ...about, question, answer: (reply) => consent(reply, args, suggestions) }
}

/** A change of permissions that the agent proposes, as an option. */
function suggestedOption(json: JsonText, at: number): AskOption {
  const { destination, rules, mode, directories } = parseObject(json)!
  const named = Array.isArray(rules) ? rules.map(ruleText) : []
  const texts = [...named, ...(Array.isArray(directories) ? directories : []), mode].filter((one) => one !== undefined)
  return {
    id: `allow-${at + 1}`,
    kind: 'allow',
    scope: destination === 'session' ? 'session' : 'always',
    ...(texts.length > 0 && { label: `Allow from now on: ${texts.map(scalarText).join(', ')}` }),
  }
}

function ruleText(rule: unknown): string {
  const { toolName, ruleContent } = isRecord(rule) ? rule : {}
  const name = scalarText(toolName)
  return ruleContent === undefined ? name : `${name}(${scalarText(ruleContent)})`
}

/** The answer to a request for consent: the arguments that may run, or why they may not. */
function consent(reply: AskReply, args: JsonText, suggestions: readonly JsonText[]): ControlVerdict | undefined {
  if (reply.kind !== 'approval') return undefined
  const suggested = suggestions[Number(/^allow-(\d+)$/.exec(reply.option)?.[1] ?? 0) - 1]
  if (reply.option === 'allow' || suggested !== undefined) {
    const json = object({
      behavior: '"allow"',
      updatedInput: reply.edited ?? args,
      updatedPermissions: suggested === undefined ? undefined : `[${suggested}]`,
    })
    return { json }
  }
  const json = object({
    behavior: '"deny"',
    message: quote(reply.message ?? REFUSED),
    interrupt: reply.stopTurn && 'true',
  })
  return { json, refused: true, stops: reply.stopTurn === true }
}

/** The questions of the asking tool as one form: a field for each, under its number. */
function formOf({ questions }: v.InferOutput<typeof Questions>): Extract<Question, { kind: 'input' }> {
  const fields = questions.map(({ question, header, options = [], multiSelect }, at) => {
    const labels = options.length === 0 ? undefined : `[${options.map(({ label }) => quote(label)).join(',')}]`
    const one: JsonText = object({ type: '"string"', examples: labels })
    const field = append(
      multiSelect ? `{"type":"array","items":${one}}` : one,
      object({ title: quote(header), description: quote(question) }),
    )
    return [String(at), field] as const
  })
  const message = questions.map(({ question }) => question).join('\n')
  return { kind: 'input', message, schema: `{"type":"object","properties":${object(fields)}}` }
}

/** The answers go by the texts of their questions; several choices are one text. */
function formAnswer(
  reply: AskReply,
  args: JsonText,
  { questions }: v.InferOutput<typeof Questions>,
): ControlVerdict | undefined {
  if (reply.kind !== 'input') return undefined
  const given = members(reply.values)
  if (given.length === 0) {
    return { json: `{"behavior":"deny","message":${quote('The user did not answer.')}}`, refused: true }
  }
  const answers = given.map(
    ([key, json]) => [questions[Number(key)]?.question ?? key, quote(answerText(json))] as const,
  )
  const updated = append(object(members(args).filter(([key]) => key !== 'answers')), `{"answers":${object(answers)}}`)
  return { json: `{"behavior":"allow","updatedInput":${updated}}` }
}

function answerText(json: JsonText): string {
  const value = parse(json)
  if (Array.isArray(value)) return value.map(scalarText).join(', ')
  return typeof value === 'string' ? value : json
}

function elicitation({ message, url }: v.InferOutput<typeof Elicitation>, raw: JsonText): ControlAsk {
  const schema = member(raw, 'requested_schema')
  const question: Question = {
    kind: 'input',
    message: url === undefined ? message : `${message}\n${url}`,
    ...(schema !== undefined && { schema }),
  }
  return {
    question,
    answer(reply) {
      if (reply.kind !== 'input') return undefined
      const accepted = members(reply.values).length > 0
      return { json: accepted ? `{"action":"accept","content":${reply.values}}` : '{"action":"decline"}' }
    },
  }
}

/** A message to an MCP server or a hook of the client. */
function toClient(method: string, raw: JsonText, write: (result: JsonText) => JsonText): ControlAsk {
  const params = object(members(raw).filter(([key]) => key !== 'subtype'))
  return {
    question: { kind: 'client', method, params },
    answer: (reply) =>
      reply.kind === 'client' && reply.result !== undefined ? { json: write(reply.result) } : undefined,
  }
}
