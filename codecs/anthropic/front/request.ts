import * as v from 'valibot'
import { agentOf, type StartRequest, wrongMember } from '../../../src/codec-kit/index.ts'
import type { FrontContext } from '../../../src/contract/index.ts'
import {
  type Fault,
  type JsonText,
  member,
  type Part,
  parseObject,
  type TurnOptions,
  textOf,
} from '../../../src/model/index.ts'
import { invalidRequest, wrongRequest } from '../errors.ts'
import { estimateTokens } from '../estimate.ts'
import { readContent } from '../read-blocks.ts'
import { Counted, type Read, Request } from './body.ts'
import { effortOf } from './effort.ts'
import { extOf } from './ext.ts'
import { conversation, readMessages } from './messages.ts'
import { sessionOfUser } from './session.ts'
import { readTools, toolOptions } from './tools.ts'

/** A request as it was read, and the form of its answer. */
export interface MessagesRequest extends StartRequest {
  /** The name that the answer repeats. */
  model: string
  streams: boolean
  /** The estimated tokens of the request. */
  tokens: number
}

/** Reads a request of `POST /v1/messages`. */
export function readRequest(body: string, headers: FrontContext['headers']): MessagesRequest | Fault {
  const checked = check(Request, body)
  if ('code' in checked) return checked
  const { read } = checked
  const messages = readMessages(body)
  if ('code' in messages) return messages
  const system = readContent(read.system == null ? undefined : member(body, 'system'), 'system')
  if ('wrong' in system) return wrongRequest(system)
  const tools = readTools(read.tools ?? [], member(body, 'tools') ?? '[]')
  if ('code' in tools) return tools
  const [agent, model] = agentOf(read.model)
  return {
    model: read.model,
    agent,
    user: read.metadata?.user_id ?? undefined,
    ...conversation(messages),
    options: optionsOf(read, body, model, system),
    tools,
    session: headers['x-claude-code-session-id'] ?? sessionOfUser(read.metadata?.user_id),
    streams: read.stream === true,
    tokens: estimateTokens(read),
    ext: extOf(body, read, system, headers['anthropic-beta']),
  }
}

/** Reads the body of `POST /v1/messages/count_tokens`: the estimated tokens of the request. */
export function readCounted(body: string): number | Fault {
  const checked = check(Counted, body)
  if ('code' in checked) return checked
  const messages = readMessages(body)
  return 'code' in messages ? messages : estimateTokens(checked.read)
}

function check<S extends v.GenericSchema>(schema: S, body: string): { read: v.InferOutput<S> } | Fault {
  const value = parseObject(body)
  if (!value) return invalidRequest('The body is not a JSON object; send {"model":"…","max_tokens":…,"messages":[…]}.')
  const checked = v.safeParse(schema, value)
  return checked.success ? { read: checked.output } : wrongRequest(wrongMember(checked.issues[0]))
}

function optionsOf(read: Read, body: string, model: string | undefined, system: readonly Part[]): TurnOptions {
  const { temperature, top_p: topP, stop_sequences: stop, max_tokens: maxTokens, output_config: output } = read
  const systemPrompt = promptOf(system)
  const effort = output?.effort ?? effortOf(read.thinking)
  const outputSchema = schemaOf(body, 'output_format') ?? schemaOf(member(body, 'output_config'), 'format')
  const options: TurnOptions = { maxTokens, ...toolOptions(read.tool_choice) }
  if (read.stream === true) options.streaming = true
  if (temperature != null) options.temperature = temperature
  if (topP != null) options.topP = topP
  if (stop != null) options.stop = stop
  if (effort !== undefined) options.effort = effort
  if (systemPrompt !== '') options.systemPrompt = systemPrompt
  if (outputSchema !== undefined) options.outputSchema = outputSchema
  if (model !== undefined) options.model = model
  return options
}

function promptOf(system: readonly Part[]): string {
  return system.map((part) => textOf([part])).join('\n\n')
}

function schemaOf(json: JsonText | undefined, key: string): JsonText | undefined {
  const held = member(json ?? '', key)
  return held === undefined || held === 'null' ? undefined : member(held, 'schema')
}
