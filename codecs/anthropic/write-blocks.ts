import { citedPieces, withFurther } from '../../src/codec-kit/index.ts'
import {
  type Blob,
  type JsonText,
  type Member,
  type Message,
  member,
  members,
  object,
  type Part,
  parse,
  quote,
  rest,
} from '../../src/model/index.ts'
import { ownCitation } from './citations.ts'
import { inputOf } from './input.ts'
import { MESSAGES, OF_MESSAGE, ownExt, ownMember, PROTOCOL } from './wire.ts'

/** Receives a part that the API has no form for, or a field of it that has no place. */
export type LostPart = (part: Part, field?: string) => void

/** Settings for writing parts. */
export interface Writing {
  lost: LostPart
  /** True when the request may have blocks of this type that a server's tool was called with. */
  allows(type: string): boolean
}

/** Messages as those of a request. The results of calls stand in messages of the user, before what else is there. */
export function messageJsons(messages: readonly Pick<Message, 'role' | 'parts'>[], writing: Writing): JsonText[] {
  return messages.flatMap(({ role, parts }) =>
    sides(role, parts, writing).flatMap((side) => messageJson(side.role, side.parts, writing) ?? []),
  )
}

type WireRole = 'user' | 'assistant' | 'system'
type Side = { role: WireRole; parts: Part[] }

/** The parts of a message by the role that the API says them in, in order. */
function sides(role: Message['role'], parts: readonly Part[], { allows }: Writing): Side[] {
  const found: Side[] = []
  for (const part of parts) {
    const own: WireRole = part.type === 'tool-reply' && !isServerPart(part, allows) ? 'user' : roleOf(role)
    const last = found.at(-1)
    if (last?.role === own && MESSAGES.of([part]) === undefined) last.parts.push(part)
    else found.push({ role: own, parts: [part] })
  }
  return found
}

function roleOf(role: Message['role']): WireRole {
  return role === 'tool' ? 'user' : role
}

function messageJson(role: WireRole, parts: readonly Part[], writing: Writing): JsonText | undefined {
  const results = parts.filter(({ type }) => type === 'tool-reply')
  const ordered = role === 'user' ? [...results, ...parts.filter(({ type }) => type !== 'tool-reply')] : parts
  const blocks = ordered.flatMap((part) => blockJsons(part, writing))
  if (blocks.length === 0) return undefined
  const json = object([
    ['role', quote(role)],
    ['content', `[${blocks.join(',')}]`],
  ])
  return withFurther(json, MESSAGES.of(parts))
}

/** The type of a server's block that a part came as, if the request may have it. */
function isServerPart(part: Part, allows: Writing['allows']): boolean {
  const type = parse(ownMember(part.ext, 'type') ?? 'null')
  return typeof type === 'string' && allows(type)
}

/** A part as a block; undefined for one that has none. */
function blockJson(part: Part, writing: Writing): JsonText | undefined {
  const own = ownExt(part.ext)
  const whole = member(own ?? '', 'block')
  if (whole !== undefined) return whole
  if (part.ext && own === undefined) writing.lost(part, 'ext')
  const block = bareBlock(part, writing)
  if (block === undefined && own !== undefined) writing.lost(part, 'ext')
  if (block === undefined || own === undefined || part.type === 'data') return block
  return withFurther(block, rest(own, NOT_OF_BLOCK))
}

const NOT_OF_BLOCK: ReadonlySet<string> = new Set([OF_MESSAGE])

/** A part as blocks: a text with sources is one for each piece of it that has sources of its own. */
function blockJsons(part: Part, writing: Writing): JsonText[] {
  if (part.type !== 'text' || part.citations === undefined) return [blockJson(part, writing) ?? []].flat()
  const own = part.citations.filter((citation) => ownCitation(citation) !== undefined)
  if (own.length < part.citations.length) writing.lost(part, 'citations')
  return citedPieces({ text: part.text, citations: own }).flatMap(({ text, citations }) => {
    const block = blockJson({ ...part, text, citations: [] }, writing)
    if (block === undefined || citations.length === 0) return block ?? []
    return object([...members(block), ['citations', `[${citations.map(ownCitation).join(',')}]`]])
  })
}

/** A block without the members of its protocol that came with the part. */
function bareBlock(part: Part, writing: Writing): JsonText | undefined {
  switch (part.type) {
    case 'text':
      return textJson(part.text)
    case 'data':
      return ownExt(part.ext) === undefined ? textJson(part.json) : part.json
    case 'image':
    case 'file':
      return fileJson(part.type, part, writing.lost)
    case 'reasoning':
      return reasoningJson(part, writing.lost)
    case 'tool-call':
      return callJson(part, writing)
    case 'tool-reply':
      return resultJson(part, writing)
    default:
      writing.lost(part)
      return undefined
  }
}

/** The API refuses texts that are blank. */
function textJson(text: string): JsonText | undefined {
  if (text.trim() === '') return undefined
  return typed('text', [['text', quote(text)]])
}

function typed(type: string, others: readonly (readonly [string, JsonText | undefined])[]): JsonText {
  return object([['type', quote(type)], ...others])
}

/** Reasoning is only sent back to the provider that has sealed it, and as it was. */
function reasoningJson(part: Part & { type: 'reasoning' }, lost: LostPart): JsonText | undefined {
  const { seal, text } = part
  if (seal?.provider !== PROTOCOL) {
    lost(part)
    return undefined
  }
  if (seal.kind === 'redacted') return typed('redacted_thinking', [['data', quote(seal.data)]])
  return typed('thinking', [
    ['thinking', quote(text)],
    ['signature', quote(seal.data)],
  ])
}

/** An id with the characters that the API takes. */
function wireId(id: string): JsonText {
  return quote(id.replace(/[^A-Za-z0-9_-]/g, '_'))
}

function callJson(part: Part & { type: 'tool-call' }, { allows }: Writing): JsonText {
  const call: Member[] = [
    ['id', wireId(part.tool)],
    ['name', quote(part.name)],
    ['input', inputOf(part.args)],
  ]
  // A server's call has its type, and what else it came with, from its own members.
  return isServerPart(part, allows) ? object(call) : typed('tool_use', call)
}

function resultJson(part: Part & { type: 'tool-reply' }, writing: Writing): JsonText {
  const { tool, status, parts } = part
  const id: Member = ['tool_use_id', wireId(tool)]
  if (isServerPart(part, writing.allows)) return object([id, ['content', serverContent(parts, writing)]])
  const blocks = parts.flatMap((inner) => blockJsons(inner, writing))
  const failed = status !== 'ok'
  if (failed && status !== 'error' && blocks.length > 0) writing.lost(part, 'status')
  const said = failed && blocks.length === 0 ? [textJson(`The tool call ended with the status: ${status}.`)!] : blocks
  return typed('tool_result', [
    id,
    ['content', said.length === 0 ? undefined : `[${said.join(',')}]`],
    ['is_error', failed ? 'true' : undefined],
  ])
}

function serverContent(parts: readonly Part[], writing: Writing): JsonText {
  const [first] = parts
  if (first?.type === 'data') return first.json
  return `[${parts.flatMap((part) => blockJsons(part, writing)).join(',')}]`
}

type FileType = 'image' | 'file'

function fileJson(type: FileType, part: Part & Blob, lost: LostPart): JsonText | undefined {
  const source = sourceJson(type, part)
  if (source === undefined) {
    lost(part)
    return undefined
  }
  const { name } = part
  if (type === 'image' && name !== undefined) lost(part, 'name')
  return typed(type === 'image' ? 'image' : 'document', [
    ['source', source],
    ['title', type === 'file' && name !== undefined ? quote(name) : undefined],
  ])
}

const DEFAULT_MIME = { image: 'image/png', file: 'application/pdf' } as const

/** The bytes of a file or their place; undefined for a kind of document that the API does not read. */
function sourceJson(type: FileType, { url, ref, base64, mime = DEFAULT_MIME[type] }: Blob): JsonText | undefined {
  if (url !== undefined) return typed('url', [['url', quote(url)]])
  if (ref !== undefined) return typed('file', [['file_id', quote(ref)]])
  if (base64 === undefined) return undefined
  if (type === 'image' || mime === DEFAULT_MIME.file) return bytesJson('base64', mime, base64)
  return mime.startsWith('text/') ? bytesJson('text', 'text/plain', textOfBase64(base64)) : undefined
}

function bytesJson(type: string, mime: string, data: string): JsonText {
  return typed(type, [
    ['media_type', quote(mime)],
    ['data', quote(data)],
  ])
}

function textOfBase64(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}
