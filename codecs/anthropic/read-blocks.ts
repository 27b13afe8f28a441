import { furtherMembers, type KnownMembers, type WrongMember } from '../../src/codec-kit/index.ts'
import {
  elements,
  isRecord,
  type JsonText,
  member,
  members,
  object,
  type Part,
  parse,
  quote,
  type Seal,
  type ToolStatus,
} from '../../src/model/index.ts'
import { readCitations } from './citations.ts'
import { readSource, textsOf } from './sources.ts'
import { entriesExt, OF_MESSAGE, PROTOCOL, toExt } from './wire.ts'

type Block = Readonly<Record<string, unknown>>
type Reader = (block: Block, raw: JsonText, param: string) => Part | WrongMember | string

/** Reads a `content`: a text, or a list of blocks; absent is empty. `param` is its place in the request. */
export function readContent(json: JsonText | undefined, param: string): Part[] | WrongMember {
  const value = json === undefined ? undefined : parse(json)
  if (value === undefined) return []
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }]
  if (!Array.isArray(value)) return { wrong: 'must be a string or an array of blocks', param }
  const raws = elements(json!)
  const parts: Part[] = []
  for (const [at, block] of (value as unknown[]).entries()) {
    const place = `${param}[${at}]`
    const read = isRecord(block) ? readBlock(block, raws[at]!, place) : 'must be an object'
    if (typeof read === 'string') return { wrong: read, param: place }
    if ('wrong' in read) return read
    parts.push(read)
  }
  return parts
}

/** Reads one block: its part, or why it cannot be read. Blocks of later versions are kept as they are. */
export function readBlock(block: Block, raw: JsonText, param: string): Part | WrongMember | string {
  const { type } = block
  if (typeof type !== 'string') return 'has no type'
  if (Object.hasOwn(READERS, type)) return READERS[type as keyof typeof READERS](block, raw, param)
  if (type.endsWith('_tool_use')) return readServerCall(block, raw)
  if (type.endsWith('_tool_result')) return readServerResult(block, raw, param)
  // The mark says whose block it is.
  return { type: 'data', json: raw, ext: toExt('{}')! }
}

const READERS = {
  text(block, raw) {
    const { text } = block
    const citations = readCitations(member(raw, 'citations'))
    if (!citations) return 'has citations that are no list of sources'
    const cited = citations.length > 0 ? { citations } : {}
    return typeof text === 'string' ? withRest({ type: 'text', text, ...cited }, block, raw, TEXT) : 'has no text'
  },
  image(block, raw) {
    const blob = readSource(block['source'])
    return typeof blob === 'string' ? blob : withRest({ type: 'image', ...blob }, block, raw, FILE)
  },
  document(block, raw) {
    const { source, title } = block
    if (isRecord(source) && (source['type'] === 'text' || source['type'] === 'content')) {
      const text = [title, source['data'] ?? source['content']].flatMap(textsOf).join('\n')
      return { type: 'text', text, ext: wholeBlock(raw) }
    }
    const blob = readSource(source)
    if (typeof blob === 'string') return blob
    return withRest({ type: 'file', ...blob, ...(typeof title === 'string' && { name: title }) }, block, raw, DOCUMENT)
  },
  search_result(block, raw) {
    const { source, title, content } = block
    if (typeof source !== 'string' || !Array.isArray(content)) return 'has no source or content'
    return { type: 'text', text: [title, source, content].flatMap(textsOf).join('\n'), ext: wholeBlock(raw) }
  },
  thinking(block, raw) {
    const { thinking, signature } = block
    if (typeof thinking !== 'string') return 'has no thinking'
    const seal: Seal | undefined =
      typeof signature === 'string' && signature !== '' ? { provider: PROTOCOL, data: signature } : undefined
    return withRest({ type: 'reasoning', text: thinking, ...(seal && { seal }) }, block, raw, THINKING)
  },
  redacted_thinking(block, raw) {
    const { data } = block
    if (typeof data !== 'string') return 'has no data'
    const seal: Seal = { provider: PROTOCOL, kind: 'redacted', data }
    return withRest({ type: 'reasoning', text: '', seal }, block, raw, REDACTED)
  },
  tool_use(block, raw) {
    const { id, name } = block
    const input = member(raw, 'input')
    if (typeof id !== 'string' || typeof name !== 'string' || input === undefined) return 'has no id, name or input'
    return withRest({ type: 'tool-call', tool: id, name, args: input }, block, raw, CALL)
  },
  tool_result(block, raw, param) {
    const { tool_use_id: tool, is_error: failed } = block
    if (typeof tool !== 'string') return 'has no tool_use_id'
    if (isWithinResult(param)) return IN_RESULT
    const parts = readContent(member(raw, 'content'), `${param}.content`)
    if ('wrong' in parts) return parts
    return withRest({ type: 'tool-reply', tool, status: statusOf(failed), parts }, block, raw, RESULT)
  },
} as const satisfies Readonly<Record<string, Reader>>

/** The members of each block that are read. */
const TEXT: KnownMembers = { type: true, text: true, citations: true }
const FILE: KnownMembers = {
  type: true,
  source: { type: true, media_type: true, data: true, url: true, file_id: true },
}
const DOCUMENT: KnownMembers = { ...FILE, title: true }
const THINKING: KnownMembers = { type: true, thinking: true, signature: true }
const REDACTED: KnownMembers = { type: true, data: true }
const CALL: KnownMembers = { type: true, id: true, name: true, input: true }
const RESULT: KnownMembers = { type: true, tool_use_id: true, content: true, is_error: true }

const IN_RESULT = 'is a result within a result'

/** True for the place of a block in the content of another block. */
function isWithinResult(param: string): boolean {
  return /\.content\[\d+\]\.content\[/.test(param)
}

/** The part with the members of its block that the model has no place for, such as marks for the provider's cache. */
function withRest(part: Part, block: Block, raw: JsonText, known: KnownMembers): Part {
  const further = furtherMembers(raw, block, known)
  if (further === undefined) return part
  return { ...part, ext: members(further).some(([key]) => OWN.has(key)) ? wholeBlock(raw) : toExt(further)! }
}

/** Names in an `ext` that have a meaning of their own. */
const OWN: ReadonlySet<string> = new Set(['block', OF_MESSAGE])

/** Keeps a block as it is: of some the model only has the text. */
function wholeBlock(raw: JsonText): NonNullable<Part['ext']> {
  return toExt(object([['block', raw]]))!
}

function statusOf(failed: unknown): ToolStatus {
  return failed === true ? 'error' : 'ok'
}

/** A call of a tool that the provider or the agent has run itself. */
function readServerCall(block: Block, raw: JsonText): Part | string {
  const { type, id, name } = block
  const input = member(raw, 'input')
  if (typeof id !== 'string' || typeof name !== 'string' || input === undefined) return 'has no id, name or input'
  return { type: 'tool-call', tool: id, name, args: input, ext: serverExt(type as string, raw, block, CALL) }
}

/** The result of such a call. What is no list of blocks is for the provider alone to read. */
function readServerResult(block: Block, raw: JsonText, param: string) {
  const { type, tool_use_id: tool, content, is_error: failed } = block
  if (typeof tool !== 'string') return 'has no tool_use_id'
  if (isWithinResult(param)) return IN_RESULT
  const ext = serverExt(type as string, raw, block, RESULT)
  const status = isRecord(content) && String(content['type']).endsWith('_error') ? 'error' : statusOf(failed)
  const json = member(raw, 'content')
  if (type !== 'mcp_tool_result') {
    const parts: Part[] = json === undefined ? [] : [{ type: 'data', json }]
    return { type: 'tool-reply', tool, status, parts, ext } as const
  }
  const parts = readContent(json, `${param}.content`)
  return 'wrong' in parts ? parts : ({ type: 'tool-reply', tool, status, parts, ext } as const)
}

/** The type of a server's block, which says who runs the tool, and its further members. */
function serverExt(type: string, raw: JsonText, block: Block, known: KnownMembers): NonNullable<Part['ext']> {
  return entriesExt([['type', quote(type)], ...members(furtherMembers(raw, block, known) ?? '{}')])!
}
