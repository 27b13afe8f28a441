import { type Report, weakened, wordTable } from '../../src/codec-kit/index.ts'
import {
  elements,
  type JsonText,
  type Message,
  member,
  object,
  type Part,
  parseObject,
  quote,
  type Role,
} from '../../src/model/index.ts'
import { plainText, readParts, textPart } from './parts.ts'

/** The messages of an OpenAI body: the last ones of the user are the prompt, system messages an option, the rest history. */
export interface Conversation {
  systemPrompt: string | undefined
  history: Message[]
  input: readonly Part[]
  /** False when messages hold more than their canonical form can say. */
  exact: boolean
}

const ROLES = wordTable<Role>({
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
  system: 'system',
  developer: 'system',
})

const MESSAGE_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'tool_call_id'])

/** Reads the raw array of messages; undefined when the last one is not of the user or a tool. */
export function readConversation(json: JsonText): Conversation | undefined {
  const found: Conversation = { systemPrompt: undefined, history: [], input: [], exact: true }
  const system: string[] = []
  for (const raw of elements(json)) {
    const message = readMessage(raw, found)
    if (message.role !== 'system') found.history.push(message)
    else for (const part of message.parts) if (part.type === 'text') system.push(part.text)
  }
  if (system.length > 0) found.systemPrompt = system.join('\n\n')
  const last = found.history.pop()
  if (!last || last.role === 'assistant' || last.parts.length === 0) return undefined
  found.input = last.parts
  return found
}

function readMessage(raw: JsonText, found: Conversation): Message {
  const value = parseObject(raw)!
  for (const key in value) if (!MESSAGE_KEYS.has(key)) found.exact = false
  const known = ROLES.get(value['role'])
  if (value['role'] !== known) found.exact = false
  const role = known ?? 'user'
  const { parts, exact } = readParts(member(raw, 'content'))
  if (!exact) found.exact = false
  if (role === 'tool') {
    const id = value['tool_call_id']
    return { role, parts: [{ type: 'tool-reply', tool: typeof id === 'string' ? id : '', status: 'ok', parts }] }
  }
  return { role, parts: [...parts, ...elements(member(raw, 'tool_calls') ?? '').map(readToolCall)] }
}

function readToolCall(raw: JsonText): Part {
  const inner = member(raw, 'function') ?? '{}'
  const { name } = parseObject(inner) ?? {}
  const { id } = parseObject(raw) ?? {}
  return {
    type: 'tool-call',
    tool: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    args: argumentsText(member(inner, 'arguments')),
  }
}

/** The raw JSON of a call's arguments, which the wire holds as a string of JSON; an object is taken as it is. */
export function argumentsText(json: JsonText | undefined): JsonText {
  if (json === undefined || json === 'null' || json === '""') return '{}'
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}

/** A transcript and the prompt after it as the messages of an OpenAI body. */
export function writeConversation(
  systemPrompt: string | undefined,
  history: readonly Message[],
  input: readonly Part[],
  report: Report,
): JsonText {
  const written = systemPrompt === undefined ? [] : [`{"role":"system","content":${quote(systemPrompt)}}`]
  for (const { role, parts } of history) written.push(...writeMessage(role, parts, report))
  written.push(...writeMessage('user', input, report))
  return `[${written.join(',')}]`
}

/** One message; the results of tools are messages of their own. */
function writeMessage(role: Role, parts: readonly Part[], report: Report): JsonText[] {
  const written: JsonText[] = []
  const calls: JsonText[] = []
  const content: Part[] = []
  for (const part of parts) {
    if (part.type === 'tool-reply') {
      const text = quote(plainText(part.parts, report))
      if (part.status !== 'ok') report(weakened('part.tool-reply', 'status'))
      written.push(`{"role":"tool","tool_call_id":${quote(part.tool)},"content":${text}}`)
    } else if (part.type === 'tool-call') calls.push(toolCallJson(part.tool, part.name, part.args))
    else content.push(part)
  }
  if (content.length === 0 && calls.length === 0) return written
  const message = object({
    role: quote(role),
    content: content.length === 0 ? 'null' : contentJson(content, report),
    tool_calls: calls.length === 0 ? undefined : `[${calls.join(',')}]`,
  })
  return [...written, message]
}

/** One entry of `tool_calls`: the arguments are a string that holds their raw JSON. */
export function toolCallJson(id: string, name: string, args: JsonText): JsonText {
  return `{"id":${quote(id)},"type":"function","function":{"name":${quote(name)},"arguments":${quote(args)}}}`
}

function contentJson(parts: readonly Part[], report: Report): JsonText {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text') return quote(only.text)
  return `[${parts.flatMap((part) => contentPart(part, report) ?? []).join(',')}]`
}

function contentPart(part: Part, report: Report): JsonText | undefined {
  if (part.type === 'image') {
    const url = part.base64 === undefined ? part.url : `data:${part.mime ?? 'image/*'};base64,${part.base64}`
    if (url !== undefined) return `{"type":"image_url","image_url":{"url":${quote(url)}}}`
  }
  if (part.type === 'audio' && part.base64 !== undefined) {
    const format = part.mime?.split('/')[1] ?? 'wav'
    return `{"type":"input_audio","input_audio":{"data":${quote(part.base64)},"format":${quote(format)}}}`
  }
  const text = plainText([part], report)
  return text === '' ? undefined : textPart(text)
}
