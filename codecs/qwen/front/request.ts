import * as v from 'valibot'
import { commandText, keysOf } from '../../../src/codec-kit/index.ts'
import {
  type Ext,
  type Invocation,
  type JsonText,
  type Message,
  member,
  members,
  oneLine,
  type Part,
  rest,
  type TurnOptions,
} from '../../../src/model/index.ts'
import { readParts } from '../parts.ts'
import { ChatOptions, ChatRequest, CommandJson } from '../schema.ts'
import { commandJson, entriesExt } from '../wire.ts'

/** A request for a turn, or for what a command does instead of one. */
export interface Request {
  session: string | undefined
  /** The client's own id of the turn. */
  prompt: string | undefined
  input: readonly Part[]
  options: TurnOptions
  /** The command that the request declares or its text begins with; `json` is how the answer repeats it. */
  command?: { invocation: Invocation; json: JsonText }
  /** The tool call that the request answers. */
  toolCall?: string
  history?: readonly Message[]
  clientTools?: readonly { name: string; schema: JsonText }[]
  /** A request with messages brings its whole conversation with it. */
  standalone: boolean
  ext: Ext | undefined
}

/** A request, or what is wrong with it. */
export type Read = Request | string

/** Members of both forms of a request that have a place. */
export const COMMON = ['session_id', 'prompt_id', 'model', 'metadata', 'protocol_version']
/** Members of a request's `metadata` that are for this side of the wire. */
const NEGOTIATED = new Set(['protocol_version', 'input_format', 'output_format', 'capabilities'])
const CHAT_KEYS = new Set([...COMMON, 'type', 'tool_call_id', 'input', 'options'])
const INPUT_KEYS = keysOf(ChatRequest.entries.input)
const OPTION_KEYS = keysOf(ChatOptions)
const COMMAND_KEYS = keysOf(CommandJson)

/** Reads a Qwen Chat Request. `line` is its raw text, `value` what that parses to. */
export function readChatRequest(line: JsonText, value: object): Read {
  const { success, output, issues } = v.safeParse(ChatRequest, value)
  if (!success) return describe(issues[0])
  const origin = output.input.origin ?? 'user'
  const toolCall = output.tool_call_id || undefined
  if (origin === 'tool_response' && toolCall === undefined) {
    return 'tool_call_id is required with the origin tool_response.'
  }
  const input = member(line, 'input')!
  const { parts, exact } = readParts(member(input, 'parts'))
  const command = commandOf(output, input, parts)
  const said = command && isBlank(parts) ? [{ type: 'text' as const, text: commandText(command.invocation) }] : parts
  if (!command && origin !== 'tool_response' && said.length === 0) {
    return 'input has neither parts nor a command.'
  }
  // Members that the parts have no place for are passed along unchanged.
  const whole = !exact || origin === 'system' || rest(input, INPUT_KEYS) !== undefined || !plainCommand(input)
  return {
    session: output.session_id || undefined,
    prompt: output.prompt_id || undefined,
    input: said,
    options: chatOptions(output),
    ...(command && { command }),
    ...(origin === 'tool_response' && toolCall !== undefined && { toolCall }),
    standalone: false,
    ext: chatExt(line, whole ? input : undefined, origin === 'tool_response'),
  }
}

function chatOptions({ model, options }: ChatRequest): TurnOptions {
  const named = options?.model || model || undefined
  return {
    ...(named !== undefined && { model: named }),
    ...(options?.temperature != null && { temperature: options.temperature }),
    ...(options?.tool_overrides && { tools: options.tool_overrides }),
  }
}

/** The members of a request's `metadata` that are for the agent. */
export function metadataOf(line: JsonText): JsonText | undefined {
  const metadata = member(line, 'metadata')
  return metadata?.startsWith('{') ? rest(metadata, NEGOTIATED) : undefined
}

function chatExt(line: JsonText, input: JsonText | undefined, answers: boolean): Ext | undefined {
  const options = rest(member(line, 'options') ?? '{}', OPTION_KEYS)
  return entriesExt(
    { input, options, tool_call_id: answers ? undefined : member(line, 'tool_call_id'), metadata: metadataOf(line) },
    members(rest(line, CHAT_KEYS) ?? '{}'),
  )
}

/** The declared command of a request, else the one that a user's text begins with. */
function commandOf({ input }: ChatRequest, raw: JsonText, parts: readonly Part[]): Request['command'] {
  if (input.command) {
    const { kind, path, args } = input.command
    return { invocation: { kind, path, args: args ?? '' }, json: oneLine(member(raw, 'command')!) }
  }
  return (input.origin ?? 'user') === 'user' ? implicitCommand(parts) : undefined
}

/**
 * The command that text begins with: `/chat list` names words of a path as far as they look like names (at most two),
 * `@main.py …` a file, `?` is help.
 */
export function implicitCommand(parts: readonly Part[]): Request['command'] {
  const [first] = parts
  const text = first?.type === 'text' ? first.text : ''
  const at = /^@(\S+)\s*([\s\S]*)$/.exec(text)
  if (at) return declared({ kind: 'at', path: [at[1]!], args: at[2]! })
  if (text.startsWith('?')) return declared({ kind: 'slash', path: ['help'], args: text.slice(1).trim() })
  const slash = /^\/([a-z][\w:-]*)(?=\s|$)(?: +([a-z][\w-]*)(?=\s|$))?\s*([\s\S]*)$/i.exec(text)
  if (!slash) return undefined
  const [, name, sub, args] = slash
  return declared({ kind: 'slash', path: sub === undefined ? [name!] : [name!, sub], args: args! })
}

function declared(invocation: Invocation): Request['command'] {
  return { invocation, json: commandJson(invocation) }
}

function plainCommand(input: JsonText): boolean {
  return rest(member(input, 'command') ?? '{}', COMMAND_KEYS) === undefined
}

function isBlank(parts: readonly Part[]): boolean {
  return parts.every((part) => part.type === 'text' && part.text.trim() === '')
}

/** The message for an invalid request, with the path of the field. */
export function describe(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue)} ${issue.message}.`
}
