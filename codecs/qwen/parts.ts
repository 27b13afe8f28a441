import { dropped, type Report, weakened } from '../../src/codec-kit/index.ts'
import {
  type Blob,
  elements,
  type JsonText,
  type Members,
  member,
  members,
  object,
  type Part,
  parse,
  parseObject,
  quote,
  type ToolStatus,
} from '../../src/model/index.ts'

/** Parts read from the wire. `exact` is false when they hold more than their canonical form can say. */
export interface ReadParts {
  parts: Part[]
  exact: boolean
}

type Media = 'image' | 'audio' | 'file'

/**
 * A PartListUnion of `@google/genai` from its raw text: a string, a part, or an array of either. Parts are known by
 * `type` or by the member that holds them, in snake or camel case; the content parts of OpenAI are read too.
 */
export function readParts(json: JsonText | undefined): ReadParts {
  const read: ReadParts = { parts: [], exact: true }
  if (json === undefined || json === 'null') return read
  for (const raw of json.startsWith('[') ? elements(json) : [json]) read.parts.push(readPart(raw, read))
  return read
}

function readPart(raw: JsonText, read: ReadParts): Part {
  const value = parse(raw)
  if (typeof value === 'string') return { type: 'text', text: value }
  const part = parseObject(raw) ?? {}
  const found = READERS.map((reader) => reader(raw, part, read)).find((known) => known !== undefined)
  if (found) return found
  read.exact = false
  return { type: 'data', json: raw }
}

type Fields = Record<string, unknown>
type PartReader = (raw: JsonText, part: Fields, read: ReadParts) => Part | undefined

const READERS: readonly PartReader[] = [readText, readCall, readReply, readMedia, readImageUrl, readAudio]

function readText(_raw: JsonText, part: Fields, read: ReadParts): Part | undefined {
  const { type, text, thought } = part
  if (typeof text !== 'string' || (type !== undefined && type !== 'text')) return undefined
  expectOnly(part, read, ['type', 'text', 'thought'])
  return thought === true ? { type: 'reasoning', text } : { type: 'text', text }
}

function readCall(raw: JsonText, part: Fields, read: ReadParts): Part | undefined {
  const inner = within(raw, part, 'function_call', 'functionCall')
  const { id, name } = parseObject(inner ?? '') ?? {}
  if (inner === undefined || typeof name !== 'string') return undefined
  if (typeof id !== 'string') read.exact = false
  const args = member(inner, 'args')
  return { type: 'tool-call', tool: typeof id === 'string' ? id : name, name, args: args ?? '{}' }
}

function readReply(raw: JsonText, part: Fields, read: ReadParts): Part | undefined {
  const inner = within(raw, part, 'function_response', 'functionResponse')
  if (inner === undefined) return undefined
  // The model has no place for the name of the tool.
  read.exact = false
  const { id, name } = parseObject(inner)!
  const tool = typeof id === 'string' ? id : typeof name === 'string' ? name : ''
  return { type: 'tool-reply', tool, ...readResponse(member(inner, 'response')) }
}

/** The `response` of a function: `output` or `error` by convention, anything else as data. */
function readResponse(json: JsonText | undefined): { status: ToolStatus; parts: Part[] } {
  if (json === undefined || json === 'null') return { status: 'ok', parts: [] }
  const failure = member(json, 'error')
  const said = failure ?? member(json, 'output') ?? json
  const value = parse(said)
  const part: Part = typeof value === 'string' ? { type: 'text', text: value } : { type: 'data', json: said }
  return { status: failure === undefined ? 'ok' : 'error', parts: [part] }
}

/** Bytes: a `file_data` has their address, an `inline_data` the bytes themselves. */
function readMedia(raw: JsonText, part: Fields, read: ReadParts): Part | undefined {
  const file = parseObject(within(raw, part, 'file_data', 'fileData') ?? '') ?? {}
  const url = file['file_uri'] ?? file['fileUri']
  if (typeof url === 'string') return media(file, read, { url }, ['file_uri', 'fileUri'])
  const inline = parseObject(within(raw, part, 'inline_data', 'inlineData') ?? '') ?? {}
  const { data: base64 } = inline
  return typeof base64 === 'string' ? media(inline, read, { base64 }, ['data']) : undefined
}

const MIME = ['mime_type', 'mimeType', 'display_name', 'displayName']

function media(data: Fields, read: ReadParts, where: Blob, keys: string[]): Part {
  expectOnly(data, read, [...keys, ...MIME, 'type'])
  const mime = data['mime_type'] ?? data['mimeType']
  const name = data['display_name'] ?? data['displayName']
  return {
    type: mediaType(mime),
    ...(typeof mime === 'string' && { mime }),
    ...(typeof name === 'string' && { name }),
    ...where,
  }
}

function mediaType(mime: unknown): Media {
  const kind = typeof mime === 'string' ? mime.split('/')[0] : undefined
  return kind === 'image' || kind === 'audio' ? kind : 'file'
}

function readImageUrl(raw: JsonText, part: Fields, read: ReadParts): Part | undefined {
  if (part['type'] !== 'image_url') return undefined
  const json = member(raw, 'image_url') ?? ''
  const url = parseObject(json)?.['url'] ?? parse(json)
  if (typeof url !== 'string') return undefined
  if (json.startsWith('{')) expectOnly(parseObject(json)!, read, ['url'])
  const [, mime, base64] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? []
  return base64 === undefined ? { type: 'image', url } : { type: 'image', ...(mime && { mime }), base64 }
}

function readAudio(raw: JsonText, part: Fields, read: ReadParts): Part | undefined {
  if (part['type'] !== 'input_audio') return undefined
  const inner = parseObject(member(raw, 'input_audio') ?? '') ?? {}
  const { data, format } = inner
  if (typeof data !== 'string') return undefined
  expectOnly(inner, read, ['data', 'format'])
  return { type: 'audio', ...(typeof format === 'string' && { mime: `audio/${format}` }), base64: data }
}

/** The raw object that holds a part: under either name, or the part itself when its type says so. */
function within(raw: JsonText, part: Fields, snake: string, camel: string): JsonText | undefined {
  const inner = member(raw, snake) ?? member(raw, camel)
  if (inner?.startsWith('{')) return inner
  return part['type'] === snake || part['type'] === camel ? raw : undefined
}

function expectOnly(value: Fields, read: ReadParts, keys: readonly string[]): void {
  for (const key in value) if (!keys.includes(key)) read.exact = false
}

/** Parts as an array of the wire's parts; what has no place is reported. */
export function writeParts(parts: readonly Part[], report: Report): JsonText {
  return `[${parts.flatMap((part) => writePart(part, report) ?? []).join(',')}]`
}

/** One text part. */
export function textPart(text: string): JsonText {
  return `{"type":"text","text":${quote(text)}}`
}

function writePart(part: Part, report: Report): JsonText | undefined {
  switch (part.type) {
    case 'text':
      return textPart(part.text)
    case 'reasoning':
      return `{"type":"text","text":${quote(part.text)},"thought":true}`
    case 'image':
    case 'audio':
    case 'file':
      return writeMedia(part, report)
    case 'tool-call':
      return typed('function_call', { id: quote(part.tool), name: quote(part.name), args: part.args })
    case 'tool-reply':
      return typed('function_response', {
        id: quote(part.tool),
        response: writeResponse(part.status, part.parts, report),
      })
    case 'data':
      report(weakened('part.data'))
      return textPart(part.json)
    case 'diff':
      report(dropped('part.diff'))
      return undefined
  }
}

function writeMedia(part: Blob & { type: Media }, report: Report): JsonText | undefined {
  const mime = quote(part.mime ?? DEFAULT_MIME[part.type])
  const name = quote(part.name)
  if (part.base64 !== undefined) {
    return typed('inline_data', { mime_type: mime, data: quote(part.base64), display_name: name })
  }
  const uri = part.url ?? part.ref
  if (uri === undefined) {
    report(dropped(`part.${part.type}`, undefined, 'required'))
    return undefined
  }
  return typed('file_data', { file_uri: quote(uri), mime_type: mime, display_name: name })
}

const DEFAULT_MIME: Readonly<Record<Media, string>> = {
  image: 'image/*',
  audio: 'audio/*',
  file: 'application/octet-stream',
}

/** A tool's result as the response of a function: `output`, or `error` when it is not `ok`. */
function writeResponse(status: ToolStatus, parts: readonly Part[], report: Report): JsonText {
  if (status === 'denied' || status === 'cancelled') report(weakened('part.tool-reply', 'status', 'too-narrow'))
  const [only] = parts
  const json = parts.length === 1 && only?.type === 'data' ? only.json : quote(plainText(parts, report))
  if (status === 'ok' && members(json).length > 0) return json
  return object({ [status === 'ok' ? 'output' : 'error']: json })
}

/** The text of parts, one after the other on lines of their own; what is no text is reported. */
export function plainText(parts: readonly Part[], report: Report): string {
  const texts: string[] = []
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text)
    else if (part.type === 'data') {
      report(weakened('part.data'))
      texts.push(part.json)
    } else report(dropped(`part.${part.type}`))
  }
  return texts.join('\n')
}

function typed(type: string, entries: Members): JsonText {
  return object({ type: quote(type), [type]: object(entries) })
}
