import * as v from 'valibot'
import {
  agentOf,
  answerFormat,
  count,
  flag,
  furtherMembers,
  jsonSchema,
  looseObject,
  maybe,
  namedValues,
  number,
  record,
  type StartRequest,
  text,
  texts,
  unknownMembers,
  whole,
  wrongMember,
} from '../../../../src/codec-kit/index.ts'
import {
  elements,
  type Fault,
  type JsonText,
  member,
  members,
  object,
  parseObject,
  type TurnOptions,
} from '../../../../src/model/index.ts'
import { invalidRequest, wrongRequest } from '../../errors.ts'
import { conversation, richSystem, strayResult, systemPromptOf } from '../../front/conversation.ts'
import { PASSED_BY_BOTH } from '../../passed.ts'
import { otherUser, USER, userOf } from '../../user.ts'
import { toExt } from '../../wire.ts'
import { type ReadMessage, readMessage } from '../read-messages.ts'
import { choice, isWholeChoice, readTools, tool, toolChoiceOf } from './tools.ts'

/** A request as it was read: the conversation before its input, its input, and the form of its answer. */
export interface ChatRequest extends StartRequest {
  /** The name that the answer repeats. */
  model: string
  streams: boolean
  /** The stream ends with a chunk that has the usage. */
  countsUsage: boolean
}

/** Members that have a place in the model, or no meaning for an agent. */
const OWN = {
  model: v.optional(text, ''),
  messages: v.pipe(v.array(v.unknown(), 'must be an array'), v.minLength(1, 'must not be empty')),
  stream: maybe(flag),
  stream_options: maybe(record({ include_usage: maybe(flag) })),
  n: maybe(v.literal(1, 'must be 1: an agent gives one answer')),
  tools: maybe(v.array(tool, 'must be an array')),
  tool_choice: maybe(choice),
  parallel_tool_calls: maybe(flag),
  response_format: maybe(answerFormat('json_schema', record({ schema: maybe(jsonSchema) }))),
  max_tokens: maybe(count),
  max_completion_tokens: maybe(count),
  temperature: maybe(number),
  top_p: maybe(number),
  stop: maybe(v.union([text, v.array(text)], 'must be a string or an array of strings')),
  reasoning_effort: maybe(text),
  // The older form of `tools`, whose calls have no id.
  functions: maybe(v.never('is not supported; send tools')),
  function_call: maybe(v.never('is not supported; send tool_choice')),
  ...USER,
}
/** Members that only a server of this API knows. */
const PASSED = {
  ...PASSED_BY_BOTH,
  audio: maybe(record({})),
  frequency_penalty: maybe(number),
  logit_bias: maybe(namedValues(number)),
  logprobs: maybe(flag),
  modalities: maybe(texts),
  prediction: maybe(record({})),
  presence_penalty: maybe(number),
  seed: maybe(whole),
  verbosity: maybe(text),
  web_search_options: maybe(record({})),
}

/** A body as it is sent. */
export const Request = looseObject({ ...OWN, ...PASSED })
type Read = v.InferOutput<typeof Request>

const KNOWN: ReadonlySet<string> = new Set(Object.keys(OWN))

/** Reads the body of `POST /v1/chat/completions`. */
export function readRequest(body: string): ChatRequest | Fault {
  const value = parseObject(body)
  if (!value) return invalidRequest('The body is not a JSON object; send {"model":"…","messages":[…]}.')
  const checked = v.safeParse(Request, value)
  if (!checked.success) return wrongRequest(wrongMember(checked.issues[0]))
  const read = checked.output
  const raws = elements(member(body, 'messages')!)
  const messages = raws.map(readMessage)
  const wrong = messages.find((message) => 'wrong' in message)
  if (wrong && 'wrong' in wrong) return wrongRequest(wrong)
  const said = messages as Exclude<ReadMessage, { wrong: string }>[]
  const stray = strayResult(said)
  if (stray) return stray
  const tools = readTools(read.tools, member(body, 'tools'))
  if ('code' in tools) return tools
  const [agent, ofModel] = agentOf(read.model)
  return {
    model: read.model,
    agent,
    user: userOf(read),
    ...conversation(said, 'chat'),
    options: optionsOf(read, body, ofModel, systemPromptOf(said)),
    tools,
    session: read.prompt_cache_key ?? undefined,
    streams: read.stream === true,
    countsUsage: read.stream_options?.include_usage === true,
    ext: toExt(extOf(body, read, richSystem(said, raws))),
  }
}

function optionsOf(read: Read, body: string, model: string | undefined, systemPrompt: string | undefined): TurnOptions {
  const { temperature, top_p: topP, stop, reasoning_effort: effort, parallel_tool_calls: parallelTools } = read
  const maxTokens = read.max_completion_tokens ?? read.max_tokens
  const outputSchema = outputSchemaOf(read, body)
  const toolChoice = toolChoiceOf(read.tool_choice)
  const options: TurnOptions = {}
  if (read.stream === true) options.streaming = true
  if (model !== undefined) options.model = model
  if (temperature != null) options.temperature = temperature
  if (topP != null) options.topP = topP
  if (maxTokens != null) options.maxTokens = maxTokens
  if (stop != null) options.stop = typeof stop === 'string' ? [stop] : stop
  if (effort != null) options.effort = effort
  if (systemPrompt !== undefined) options.systemPrompt = systemPrompt
  if (toolChoice !== undefined) options.toolChoice = toolChoice
  if (parallelTools != null) options.parallelTools = parallelTools
  if (outputSchema !== undefined) options.outputSchema = outputSchema
  return options
}

function outputSchemaOf({ response_format: format }: Read, body: string): JsonText | undefined {
  if (format?.type === 'json_object') return '{"type":"object"}'
  if (format?.type !== 'json_schema') return undefined
  return member(member(member(body, 'response_format')!, 'json_schema')!, 'schema')
}

/** The stream to the client is the gateway's own. */
const STREAM = { include_usage: true, include_obfuscation: true } as const

/**
 * The members without a place in the model. Of a `response_format` the schema has one, its name and kind have not.
 * `messages` are the system messages at the beginning, where they are more than text.
 */
function extOf(body: string, read: Read, messages: JsonText | undefined): JsonText | undefined {
  const { response_format: format, tool_choice: given, stream_options: stream } = read
  const others = unknownMembers(body, read, KNOWN)
  const json = object([
    ['messages', messages],
    ...(format && format.type !== 'text' ? [['response_format', member(body, 'response_format')] as const] : []),
    ['tool_choice', isWholeChoice(given) ? undefined : member(body, 'tool_choice')],
    ['stream_options', stream ? furtherMembers(member(body, 'stream_options')!, stream, STREAM) : undefined],
    otherUser(body, read),
    ...(others === undefined ? [] : members(others)),
  ])
  return json === '{}' ? undefined : json
}
