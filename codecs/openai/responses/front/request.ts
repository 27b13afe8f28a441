import * as v from 'valibot'
import {
  agentOf,
  furtherMembers,
  type ParkedAnswer,
  type ParkedCall,
  type StartRequest,
  wrongMember,
} from '../../../../src/codec-kit/index.ts'
import {
  type Ext,
  type Fault,
  type Id,
  type JsonText,
  type Member,
  type Message,
  member,
  members,
  parseObject,
  rest,
  type TurnOptions,
} from '../../../../src/model/index.ts'
import { invalidRequest, wrongRequest } from '../../errors.ts'
import { conversation, richSystem, systemPromptOf } from '../../front/conversation.ts'
import { splitExt } from '../../request-ext.ts'
import { otherUser, userOf } from '../../user.ts'
import { toExt } from '../../wire.ts'
import { responseOf } from '../ids.ts'
import { OWN, type Read, Request } from './body.ts'
import { repeatedOf } from './echo.ts'
import { type Input, readInput } from './input.ts'
import { merged } from './items.ts'
import { isWholeChoice, toolChoiceOf, toolsOf } from './tools.ts'

/** A request as it was read. */
export interface ResponsesRequest extends StartRequest {
  /** Answers to approvals of a parked turn. */
  answers: readonly ParkedAnswer[]
  /** The approvals that its conversation ends with. */
  open: readonly ParkedCall[]
  streams: boolean
  /** The turn goes on without its client. */
  background: boolean
  /** The response can be asked for later. */
  stored: boolean
  /** The members that its response repeats. */
  repeated: JsonText
  /** Its items, raw: the system messages that it begins with, those behind the last answer, and those with tools. */
  raw: Input['raw']
  /** Losses of its items, which reach no agent. */
  losses: Input['losses']
}

const KNOWN: ReadonlySet<string> = new Set(Object.keys(OWN))

/** Reads the body of `POST /v1/responses`. */
export function readRequest(body: string): ResponsesRequest | Fault {
  const value = parseObject(body)
  if (!value) return invalidRequest('The body is not a JSON object; send {"model":"…","input":"…"}.')
  const checked = v.safeParse(Request, value)
  if (!checked.success) return wrongRequest(wrongMember(checked.issues[0]))
  const read = checked.output
  const wrong = contradictionOf(read)
  if (wrong) return wrong
  const said = members(body)
  const input = readInput(said.findLast(([key]) => key === 'input')![1])
  if ('code' in input) return input
  const after = followed(read, input.after)
  if (typeof after === 'object') return after
  const messages = merged(input.said)
  const [agent, ofModel] = agentOf(read.model)
  return {
    agent,
    user: userOf(read),
    ...conversation(messages, 'responses'),
    answers: input.answers,
    open: input.open,
    after,
    options: optionsOf(read, body, ofModel, promptOf(read, messages)),
    tools: [...toolsOf(member(body, 'tools')), ...input.tools],
    conversation: conversationOf(read),
    session: read.prompt_cache_key ?? undefined,
    streams: read.stream === true,
    background: read.background === true,
    stored: read.store !== false,
    repeated: repeatedOf(said),
    raw: input.raw,
    losses: input.losses,
    ext: extOf(body, said, read, richSystem(messages, input.raw.system)),
  }
}

/** Refuses two members that cannot both be meant, as the API does. */
function contradictionOf({
  background,
  store,
  conversation: given,
  previous_response_id: id,
}: Read): Fault | undefined {
  if (background === true && store === false) {
    const why = 'background needs a response that is stored, because nothing else finds it; leave out "store": false.'
    return invalidRequest(why, 'background')
  }
  if (given == null || id == null) return undefined
  return invalidRequest('conversation and previous_response_id both say what to go on from; send one.', 'conversation')
}

/** The turn that the request follows. A response that was not to be stored is not known. */
function followed({ previous_response_id: id }: Read, after: Id | undefined): Id | undefined | Fault {
  if (id == null) return after
  const known = responseOf(id)
  if (known?.stored) return known.turn
  const why = `There is no response "${id}" here; send the whole conversation.`
  return { ...invalidRequest(why, 'previous_response_id'), code: 'session-not-found' }
}

function conversationOf({ conversation: given }: Read): string | undefined {
  return typeof given === 'string' ? given : given?.id
}

/** The instructions, and the system messages that the input begins with. */
function promptOf({ instructions }: Read, messages: readonly Message[]): string | undefined {
  const said = [instructions, systemPromptOf(messages)].filter((text) => text != null && text !== '')
  return said.length === 0 ? undefined : said.join('\n\n')
}

function optionsOf(read: Read, body: string, model: string | undefined, systemPrompt: string | undefined): TurnOptions {
  const { temperature, top_p: topP, max_output_tokens: maxTokens, parallel_tool_calls: parallelTools } = read
  const effort = read.reasoning?.effort
  const outputSchema = outputSchemaOf(read, body)
  const toolChoice = toolChoiceOf(read.tool_choice)
  const options: TurnOptions = {}
  if (read.stream === true) options.streaming = true
  if (model !== undefined) options.model = model
  if (temperature != null) options.temperature = temperature
  if (topP != null) options.topP = topP
  if (maxTokens != null) options.maxTokens = maxTokens
  if (effort != null) options.effort = effort
  if (systemPrompt !== undefined) options.systemPrompt = systemPrompt
  if (toolChoice !== undefined) options.toolChoice = toolChoice
  if (parallelTools != null) options.parallelTools = parallelTools
  if (outputSchema !== undefined) options.outputSchema = outputSchema
  return options
}

function outputSchemaOf({ text: said }: Read, body: string): JsonText | undefined {
  if (said?.format?.type === 'json_object') return '{"type":"object"}'
  if (said?.format?.type !== 'json_schema') return undefined
  return member(member(member(body, 'text')!, 'format')!, 'schema')
}

const EFFORT: ReadonlySet<string> = new Set(['effort'])
/** The stream to the client is the gateway's own. */
const STREAM = { include_obfuscation: true } as const

/**
 * The members that no option has all of, and those without a place. `system` are the system messages at the beginning,
 * where they are more than text: then the instructions are apart from them.
 */
function extOf(body: string, said: readonly Member[], read: Read, system: JsonText | undefined): Ext | undefined {
  const { tool_choice: given, reasoning, stream_options: stream } = read
  const own = [
    ['input', system],
    ['instructions', system === undefined ? undefined : member(body, 'instructions')],
    ['tool_choice', isWholeChoice(given) ? undefined : member(body, 'tool_choice')],
    ['reasoning', reasoning == null ? undefined : rest(member(body, 'reasoning')!, EFFORT)],
    ['stream_options', stream ? furtherMembers(member(body, 'stream_options')!, stream, STREAM) : undefined],
    otherUser(body, read),
    ...said.filter(([key]) => !KNOWN.has(key)),
  ] as const
  return toExt(splitExt(own.filter((entry): entry is Member => entry[1] !== undefined)))
}
