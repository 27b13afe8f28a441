import { flatToolName, furtherMembers, type KnownMembers } from '../../../../src/codec-kit/index.ts'
import {
  elements,
  isRecord,
  type JsonText,
  type Message,
  member,
  object,
  type Part,
  parseObject,
  type Role,
} from '../../../../src/model/index.ts'
import { ITEM, type WrongContent } from '../../content.ts'
import { MESSAGES, withOwn } from '../../further.ts'
import { toExt } from '../../wire.ts'
import { readContent } from '../content.ts'
import { sealOf } from '../seals.ts'
import { ofOther, readApproval, readQuestion, readReference, readTools } from './control-items.ts'
import { type Fields, ITEM_HEAD, type ReadItem, wrong } from './read-item.ts'

type Reader = (item: Fields, json: JsonText) => ReadItem

/** The roles of messages. `developer` is the newer name of `system`. */
const ROLES: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
}

const READERS: Readonly<Record<string, Reader>> = {
  message: readMessage,
  function_call: (item, json) => readCall(item, json, 'arguments'),
  custom_tool_call: (item, json) => readCall(item, json, 'input'),
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  reasoning: readReasoning,
  mcp_call: readOwnCall,
  mcp_approval_request: readQuestion,
  mcp_list_tools: ofOther,
  mcp_approval_response: readApproval,
  item_reference: readReference,
  additional_tools: readTools,
}

/** The `input` as items, raw: a text is one message of the user. */
export function itemsOf(input: JsonText): JsonText[] {
  return input.startsWith('"') ? [`{"role":"user","content":${input}}`] : elements(input)
}

/** Reads one item. Items of other types are kept as they are. */
export function readItem(json: JsonText): ReadItem {
  const item = parseObject(json)
  if (!item) return wrong('must be an object', '')
  const type = item['type'] ?? 'message'
  if (typeof type !== 'string') return wrong('must be a string', '.type')
  const reader = Object.hasOwn(READERS, type) ? READERS[type] : undefined
  return reader ? reader(item, json) : said('assistant', [{ type: 'data', json, ext: toExt(ITEM)! }])
}

function said(role: Role, parts: Part[]): ReadItem {
  return { kind: 'said', role, parts }
}

function wrongContent({ wrong: why, at }: WrongContent, name: string): ReadItem {
  return wrong(why, at < 0 ? `.${name}` : `.${name}[${at}]`)
}

function readMessage(item: Fields, json: JsonText): ReadItem {
  const role = typeof item['role'] === 'string' && Object.hasOwn(ROLES, item['role']) ? ROLES[item['role']] : undefined
  if (!role) return wrong(`has no role of: ${Object.keys(ROLES).join(', ')}`, '.role')
  const parts = readContent(member(json, 'content'))
  if ('wrong' in parts) return wrongContent(parts, 'content')
  return said(role, MESSAGES.responses.begin(parts, furtherMembers(json, item, MESSAGE)))
}

/** The members of each type of item that are read. */
const MESSAGE: KnownMembers = { ...ITEM_HEAD, role: true, content: true }
const CALL: KnownMembers = { ...ITEM_HEAD, call_id: true, name: true, namespace: true, arguments: true, input: true }
const OWN_CALL: KnownMembers = {
  ...ITEM_HEAD,
  name: true,
  arguments: true,
  output: true,
  error: true,
  server_label: true,
  approval_request_id: true,
}
const OUTPUT: KnownMembers = { ...ITEM_HEAD, call_id: true, output: true }
const REASONING: KnownMembers = { ...ITEM_HEAD, summary: true, content: true, encrypted_content: true }

function readCall(item: Fields, json: JsonText, given: 'arguments' | 'input'): ReadItem {
  const { call_id: tool, name, namespace, [given]: args } = item
  if (typeof tool !== 'string') return wrong('must be the id of a call', '.call_id')
  if (typeof name !== 'string') return wrong('must be the name of a tool', '.name')
  if (typeof args !== 'string') return wrong('must be a string', `.${given}`)
  const flat = flatToolName({ name, ...(typeof namespace === 'string' && { namespace }) })
  return said('assistant', [withOwn({ type: 'tool-call', tool, name: flat, args }, 'responses', json, item, CALL)])
}

function readOutput(item: Fields, json: JsonText): ReadItem {
  const { call_id: tool } = item
  if (typeof tool !== 'string') return wrong('must be the id of a call', '.call_id')
  const parts = readContent(member(json, 'output'))
  if ('wrong' in parts) return wrongContent(parts, 'output')
  const reply: Part = { type: 'tool-reply', tool, status: 'ok', parts }
  return said('tool', [withOwn(reply, 'responses', json, item, OUTPUT)])
}

/** Its encrypted form is what a server needs; its other members go back as they came. */
function readReasoning(item: Fields, json: JsonText): ReadItem {
  const { encrypted_content: encrypted, summary, content } = item
  const text = [...texts(summary), ...texts(content)].join('\n\n')
  const ext = toExt(object(['id', 'summary', 'content'].map((key) => [key, member(json, key)] as const)))!
  const seal = typeof encrypted === 'string' && encrypted !== '' ? { seal: sealOf(encrypted) } : {}
  const part: Part = { type: 'reasoning', text, ...seal, ext }
  return said('assistant', [withOwn(part, 'responses', json, item, REASONING)])
}

function texts(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return (list as unknown[]).flatMap((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : []))
}

/** A call of a tool that an agent has run itself: the call and its result. */
function readOwnCall(item: Fields, json: JsonText): ReadItem {
  const { id, name, arguments: args, output, error } = item
  if (typeof id !== 'string' || typeof name !== 'string' || typeof args !== 'string') {
    return wrong('must have an id, a name and arguments', '')
  }
  const failed = error != null
  const result = failed ? error : (output ?? '')
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  const parts: Part[] = text === '' ? [] : [{ type: 'text', text }]
  return said('assistant', [
    withOwn({ type: 'tool-call', tool: id, name, args }, 'responses', json, item, OWN_CALL),
    { type: 'tool-reply', tool: id, status: failed ? 'error' : 'ok', parts },
  ])
}

/** Items of one author that follow each other are one message: servers want the calls of an answer together. */
export function merged(items: readonly { role: Role; parts: readonly Part[] }[]): Message[] {
  const messages: { role: Role; items: (readonly Part[])[] }[] = []
  for (const { role, parts } of items) {
    const last = messages.at(-1)
    if (last?.role === role && (role === 'assistant' || role === 'tool')) last.items.push(parts)
    else messages.push({ role, items: [parts] })
  }
  return messages.map(({ role, items }) => ({ role, parts: MESSAGES.responses.join(items) }))
}
