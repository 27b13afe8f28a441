import { isBase64, type WrongMember } from '../../src/codec-kit/index.ts'
import {
  type Blob,
  elements,
  isRecord,
  type JsonText,
  member,
  members,
  object,
  type Part,
  parse,
  quote,
  rest,
  type Seal,
  type ToolStatus,
} from '../../src/model/index.ts'
import { readCitations } from './citations.ts'
import { entriesExt, PROTOCOL, toExt } from './wire.ts'

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
    return withRest({ type: 'file', ...blob, ...(typeof title === 'string' && { name: title }) }, block, raw, FILE)
  },
  search_result(block, raw) {
    const { source, title, content } = block
    if (typeof source !== 'string' || !Array.isArray(content)) return 'has no source or content'
    return { type: 'text', text: [title, source, content].flatMap(textsOf).join('\n'), ext: wholeBlock(raw) }
  },
  thinking(block) {
    const { thinking, signature } = block
    if (typeof thinking !== 'string') return 'has no thinking'
    const seal: Seal | undefined =
      typeof signature === 'string' && signature !== '' ? { provider: PROTOCOL, data: signature } : undefined
    return { type: 'reasoning', text: thinking, ...(seal && { seal }) }
  },
  redacted_thinking({ data }) {
    if (typeof data !== 'string') return 'has no data'
    return { type: 'reasoning', text: '', seal: { provider: PROTOCOL, kind: 'redacted', data } }
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

const TEXT: ReadonlySet<string> = new Set(['type', 'text', 'citations'])
const FILE: ReadonlySet<string> = new Set(['type', 'source'])
const CALL: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input'])
const RESULT: ReadonlySet<string> = new Set(['type', 'tool_use_id', 'content', 'is_error'])

const IN_RESULT = 'is a result within a result'

/** True for the place of a block in the content of another block. */
function isWithinResult(param: string): boolean {
  return /\.content\[\d+\]\.content\[/.test(param)
}

/** The part with the members of its block that the model has no place for, such as marks for the provider's cache. */
function withRest(part: Part, block: Block, raw: JsonText, known: ReadonlySet<string>): Part {
  for (const key in block) if (!known.has(key)) return { ...part, ext: toExt(rest(raw, known)!)! }
  return part
}

/** Keeps a block that the model only has the text of. */
function wholeBlock(raw: JsonText): NonNullable<Part['ext']> {
  return toExt(object([['block', raw]]))!
}

function statusOf(failed: unknown): ToolStatus {
  return failed === true ? 'error' : 'ok'
}

/** The texts of a text, of a block, or of a list of blocks. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap((block) => (isRecord(block) ? textsOf(block['text']) : []))
  return []
}

/** The bytes of a `source`, or their place. */
function readSource(source: unknown): Blob | string {
  if (!isRecord(source)) return 'has no source'
  const { type, media_type: mime, data, url, file_id: ref } = source
  if (type === 'url' && typeof url === 'string') return { url }
  if (type === 'file' && typeof ref === 'string') return { ref }
  if (type !== 'base64' || typeof mime !== 'string' || typeof data !== 'string') return 'has no valid source'
  return isBase64(data) ? { mime, base64: data } : 'has a source that is not base64'
}

/** A call of a tool that the provider or the agent has run itself. */
function readServerCall({ type, id, name }: Block, raw: JsonText): Part | string {
  const input = member(raw, 'input')
  if (typeof id !== 'string' || typeof name !== 'string' || input === undefined) return 'has no id, name or input'
  return { type: 'tool-call', tool: id, name, args: input, ext: serverExt(type as string, raw, CALL) }
}

/** The result of such a call. What is no list of blocks is for the provider alone to read. */
function readServerResult({ type, tool_use_id: tool, content, is_error: failed }: Block, raw: JsonText, param: string) {
  if (typeof tool !== 'string') return 'has no tool_use_id'
  if (isWithinResult(param)) return IN_RESULT
  const ext = serverExt(type as string, raw, RESULT)
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
function serverExt(type: string, raw: JsonText, known: ReadonlySet<string>): NonNullable<Part['ext']> {
  return entriesExt([['type', quote(type)], ...members(rest(raw, known) ?? '{}')])!
}
