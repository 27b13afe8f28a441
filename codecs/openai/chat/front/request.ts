import * as v from 'valibot'
import {
  type ClientTool,
  elements,
  type Fault,
  type JsonText,
  type Message,
  member,
  members,
  object,
  type Part,
  parseObject,
  rest,
  type TurnOptions,
  textOf,
} from '../../../../src/model/index.ts'
import { invalidRequest } from '../../errors.ts'
import { toExt } from '../../wire.ts'
import { type ReadMessage, readMessage } from '../messages.ts'

/** A request as it was read: the conversation before its input, its input, and what its answer is to be. */
export interface ChatRequest {
  /** The name that the answer repeats. */
  model: string
  agent: string
  input: readonly Part[]
  history: readonly Message[]
  options: TurnOptions
  tools: readonly ClientTool[]
  session: string | undefined
  streams: boolean
  /** The stream ends with a chunk that has the usage. */
  countsUsage: boolean
  /** Fields that the model has no place for. */
  ext: JsonText | undefined
}

const text = v.string('must be a string')
const number = v.pipe(v.number('must be a number'), v.finite('must be a finite number'))
const count = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be positive'),
)
const flag = v.boolean('must be true or false')

/** A member that may be absent; null counts as absent. */
function maybe<const S extends v.GenericSchema>(schema: S) {
  return v.nullish(schema)
}

const CHOICES = ['auto', 'none', 'required'] as const
const named = v.looseObject({ name: text }, 'must be an object with a name')
const choice = v.union(
  [
    v.picklist(CHOICES),
    v.looseObject({ type: v.literal('function'), function: named }),
    v.looseObject({ type: v.literal('custom'), custom: named }),
    v.looseObject({ type: v.literal('allowed_tools') }),
  ],
  'must be "auto", "none", "required", or an object that names a tool',
)
const tool = v.looseObject(
  {
    type: text,
    function: maybe(
      v.looseObject({
        name: v.pipe(text, v.minLength(1, 'must not be empty')),
        description: maybe(text),
        parameters: maybe(v.looseObject({}, 'must be a JSON Schema')),
        strict: maybe(flag),
      }),
    ),
    custom: maybe(v.looseObject({ name: text, description: maybe(text) })),
  },
  'must be an object',
)

const Request = v.looseObject({
  model: v.optional(text, ''),
  messages: v.pipe(v.array(v.unknown(), 'must be an array'), v.minLength(1, 'must not be empty')),
  stream: maybe(flag),
  stream_options: maybe(v.looseObject({ include_usage: maybe(flag) }, 'must be an object')),
  n: maybe(v.literal(1, 'must be 1: an agent gives one answer')),
  tools: maybe(v.array(tool, 'must be an array')),
  tool_choice: maybe(choice),
  parallel_tool_calls: maybe(flag),
  response_format: maybe(
    v.looseObject({ type: text, json_schema: maybe(v.looseObject({}, 'must be an object')) }, 'must be an object'),
  ),
  max_tokens: maybe(count),
  max_completion_tokens: maybe(count),
  temperature: maybe(number),
  top_p: maybe(number),
  stop: maybe(v.union([text, v.array(text)], 'must be a string or an array of strings')),
  reasoning_effort: maybe(text),
  prompt_cache_key: maybe(text),
})
type Read = v.InferOutput<typeof Request>

/** Members that have a place in the model, or mean nothing to an agent. */
const KNOWN: ReadonlySet<string> = new Set([...Object.keys(Request.entries), 'response_format'])

/** Reads the body of `POST /v1/chat/completions`. */
export function readRequest(body: string): ChatRequest | Fault {
  const value = parseObject(body)
  if (!value) return invalidRequest('The body is not a JSON object; send {"model":"…","messages":[…]}.')
  const checked = v.safeParse(Request, value)
  if (!checked.success) return wrongMember(checked.issues[0])
  const read = checked.output
  const messages = elements(member(body, 'messages')!).map(readMessage)
  const wrong = messages.find((message) => 'wrong' in message)
  if (wrong && 'wrong' in wrong) return invalidRequest(`${wrong.param} ${wrong.wrong}.`, wrong.param)
  const said = messages as Exclude<ReadMessage, { wrong: string }>[]
  const tools = readTools(read, body)
  if ('code' in tools) return tools
  const [agent, ofModel] = agentOf(read.model)
  return {
    model: read.model,
    agent,
    ...conversation(said),
    options: optionsOf(read, body, ofModel, systemPromptOf(said)),
    tools,
    session: read.prompt_cache_key ?? undefined,
    streams: read.stream === true,
    countsUsage: read.stream_options?.include_usage === true,
    ext: extOf(body, read),
  }
}

function wrongMember(issue: v.BaseIssue<unknown>): Fault {
  const path = v.getDotPath(issue)!
  const param = path.replace(/\.(\d+)/g, '[$1]')
  const why = issue.received === 'undefined' ? 'is missing' : issue.message
  return invalidRequest(`${param} ${why}.`, param)
}

/** `coder:gpt-5` is the agent `coder`, which is to use the model `gpt-5`. */
function agentOf(model: string): [agent: string, model: string | undefined] {
  const colon = model.indexOf(':')
  return colon < 0 ? [model, model === '' ? undefined : model] : [model.slice(0, colon), model.slice(colon + 1)]
}

/** The system messages that the conversation begins with are the system prompt; later ones stay where they are. */
function leading(messages: readonly { role: string }[]): number {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return first < 0 ? messages.length : first
}

function systemPromptOf(messages: readonly { role: string; parts: readonly Part[] }[]): string | undefined {
  const prompt = messages
    .slice(0, leading(messages))
    .map(({ parts }) => textOf(parts))
    .join('\n\n')
  return prompt === '' ? undefined : prompt
}

/** The last messages of the user, or the results of tools, are the input; what is before them is history. */
function conversation(
  messages: readonly { role: Message['role']; parts: Part[] }[],
): Pick<ChatRequest, 'input' | 'history'> {
  const said = messages.slice(leading(messages))
  const before = said.findLastIndex(({ role }) => role !== 'user' && role !== 'tool')
  return { history: said.slice(0, before + 1), input: said.slice(before + 1).flatMap(({ parts }) => parts) }
}

function optionsOf(read: Read, body: string, model: string | undefined, systemPrompt: string | undefined): TurnOptions {
  const { temperature, top_p: topP, stop, reasoning_effort: effort, parallel_tool_calls: parallelTools } = read
  const maxTokens = read.max_completion_tokens ?? read.max_tokens
  const outputSchema = outputSchemaOf(read, body)
  const toolChoice = toolChoiceOf(read)
  return {
    ...(read.stream === true && { streaming: true }),
    ...(model !== undefined && { model }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(maxTokens != null && { maxTokens }),
    ...(stop != null && { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(effort != null && { effort }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(parallelTools != null && { parallelTools }),
    ...(outputSchema !== undefined && { outputSchema }),
  }
}

function toolChoiceOf({ tool_choice: given }: Read): TurnOptions['toolChoice'] {
  if (given == null || typeof given === 'string') return given ?? undefined
  if (given.type === 'function') return { tool: (given.function as { name: string }).name }
  return given.type === 'custom' ? { tool: (given.custom as { name: string }).name } : undefined
}

function outputSchemaOf({ response_format: format }: Read, body: string): JsonText | undefined {
  if (format?.type === 'json_object') return '{"type":"object"}'
  if (format?.type !== 'json_schema') return undefined
  return member(member(member(body, 'response_format')!, 'json_schema') ?? '', 'schema')
}

/** The members of a `response_format` that `outputSchema` has no place for: its name, and whether it is strict. */
function extOf(body: string, { response_format: format, tool_choice: given }: Read): JsonText | undefined {
  const allowed = typeof given === 'object' && given?.type === 'allowed_tools'
  const json = object([
    ...(format?.type === 'json_schema' ? [['response_format', member(body, 'response_format')] as const] : []),
    ...(allowed ? [['tool_choice', member(body, 'tool_choice')] as const] : []),
    ...members(rest(body, KNOWN) ?? '{}'),
  ])
  return json === '{}' ? undefined : json
}

function readTools({ tools }: Read, body: string): readonly ClientTool[] | Fault {
  if (!tools) return []
  const raws = elements(member(body, 'tools')!)
  const read: ClientTool[] = []
  for (const [at, given] of tools.entries()) {
    const known = readTool(given, raws[at]!)
    if (!known) return invalidRequest(`tools[${at}] must have a function, or be of a known type.`, `tools[${at}]`)
    read.push(known)
  }
  return read
}

function readTool(
  { type, function: called, custom }: v.InferOutput<typeof tool>,
  raw: JsonText,
): ClientTool | undefined {
  if (type === 'function' && called) {
    const schema = member(member(raw, 'function')!, 'parameters')
    return {
      name: called.name,
      ...(called.description != null && { description: called.description }),
      ...(schema !== undefined && schema !== 'null' && { schema }),
      ...(called.strict != null && { strict: called.strict }),
    }
  }
  if (type === 'custom' && custom) {
    const { name, description } = custom
    const format = member(member(raw, 'custom')!, 'format')
    const ext = format === undefined ? undefined : toExt(object([['format', format]]))
    return { name, kind: 'custom', ...(description != null && { description }), ...(ext && { ext }) }
  }
  // Tools of the provider are named by their type.
  return type === 'function' || type === 'custom' ? undefined : { name: type, kind: 'hosted', ext: toExt(raw)! }
}
