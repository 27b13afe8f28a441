import { isBase64 } from '../../src/codec-kit/index.ts'
import {
  type Blob,
  type Ext,
  elements,
  isRecord,
  type JsonText,
  type Member,
  members,
  object,
  type Part,
  parse,
  quote,
} from '../../src/model/index.ts'
import { entriesExt, ownExt, ownMember } from './wire.ts'

/** A content list could not be read; `at` is the place of the part that is wrong. */
export interface WrongContent {
  wrong: string
  at: number
}

/** The parts of a `content`: a text, a list of parts, or null for none. */
export function readContent(json: JsonText | undefined): Part[] | WrongContent {
  const value = json === undefined ? null : parse(json)
  if (value === null) return []
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }]
  if (!Array.isArray(value)) return { wrong: 'must be a string or an array of parts', at: -1 }
  const parts: Part[] = []
  const raws = elements(json!)
  for (const [at, part] of (value as unknown[]).entries()) {
    const read = isRecord(part) ? readPart(part, raws[at]!) : 'must be an object'
    if (typeof read === 'string') return { wrong: read, at }
    parts.push(read)
  }
  return parts
}

/** A part, or why it cannot be read. */
function readPart(part: Record<string, unknown>, raw: JsonText): Part | string {
  const { type } = part
  if (typeof type !== 'string') return 'has no type'
  const reader = READERS[type as keyof typeof READERS]
  // Parts of later versions and of other servers are kept as they are.
  if (!Object.hasOwn(READERS, type) || !reader) return { type: 'data', json: raw }
  return reader(part) ?? `is not a valid ${type} part`
}

type Reader = (part: Record<string, unknown>) => Part | undefined

const READERS = {
  text: ({ text }) => (typeof text === 'string' ? { type: 'text', text } : undefined),
  refusal: ({ refusal }) => (typeof refusal === 'string' ? { type: 'text', text: refusal } : undefined),
  image_url: ({ image_url: image }) => {
    const { url, detail } = isRecord(image) ? image : { url: image, detail: undefined }
    const blob = typeof url === 'string' ? blobOfUrl(url) : undefined
    const ext = entriesExt([['detail', typeof detail === 'string' ? quote(detail) : undefined]])
    return blob && { type: 'image', ...blob, ...(ext && { ext }) }
  },
  input_audio: ({ input_audio: audio }) => {
    const { data, format } = isRecord(audio) ? audio : {}
    if (typeof data !== 'string' || typeof format !== 'string' || !isBase64(data)) return undefined
    return { type: 'audio', base64: data, mime: `audio/${format}` }
  },
  file: ({ file }) => {
    const { file_data: data, file_id: ref, filename } = isRecord(file) ? file : {}
    const name = typeof filename === 'string' ? { name: filename } : {}
    if (typeof ref === 'string') return { type: 'file', ref, ...name }
    const blob = typeof data === 'string' ? (blobOfUrl(data) ?? blobOfBytes(data)) : undefined
    return blob && { type: 'file', ...blob, ...name }
  },
} as const satisfies Readonly<Record<string, Reader>>

const URL_SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** The bytes of a data URL (RFC 2397), or a URL; undefined for any other text, and for bytes that are not base64. */
function blobOfUrl(url: string): Blob | undefined {
  if (!url.startsWith('data:')) return URL_SCHEME.test(url) ? { url } : undefined
  const comma = url.indexOf(',')
  const [mime, ...marks] = url.slice('data:'.length, comma).split(';')
  const blob = marks.at(-1) === 'base64' ? blobOfBytes(url.slice(comma + 1)) : undefined
  return blob && { ...(mime && { mime }), ...blob }
}

function blobOfBytes(base64: string): Blob | undefined {
  return isBase64(base64) ? { base64 } : undefined
}

/** Hears of a part that the protocol has no form for, or of a field of it that has no place. */
export type LostPart = (part: Part, field?: string) => void

/** Parts as a `content`: one text where there is nothing else. */
export function contentJson(parts: readonly Part[], lost: LostPart): JsonText {
  const [first, ...others] = parts
  if (first === undefined) return '""'
  if (others.length === 0 && first.type === 'text' && first.ext === undefined) return quote(first.text)
  return `[${parts.flatMap((part) => partJson(part, lost) ?? []).join(',')}]`
}

function partJson(part: Part, lost: LostPart): JsonText | undefined {
  if (part.ext && ownExt(part.ext) === undefined) lost(part, 'ext')
  switch (part.type) {
    case 'text':
      return object([['type', '"text"'], ['text', quote(part.text)], ...ownEntries(part)])
    case 'data':
      if (isRecord(parse(part.json)) && part.mime === undefined) return part.json
      return object([
        ['type', '"text"'],
        ['text', quote(part.json)],
      ])
    case 'image':
    case 'audio':
    case 'file':
      return blobJson(part, lost)
    default:
      lost(part)
      return undefined
  }
}

type BlobPart = Part & { type: 'image' | 'audio' | 'file' }

/** Where bytes, a URL and a file's id have a place; and the name of the file. */
const PLACES: Readonly<Record<BlobPart['type'], readonly (keyof Blob)[]>> = {
  image: ['url', 'base64'],
  audio: ['base64'],
  file: ['ref', 'base64', 'name'],
}

function blobJson(part: BlobPart, lost: LostPart): JsonText | undefined {
  const places = PLACES[part.type]
  const held = (['url', 'ref', 'base64'] as const).filter((member) => part[member] !== undefined)
  if (!held.some((member) => places.includes(member))) {
    lost(part)
    return undefined
  }
  for (const member of [...held, 'name'] as const) {
    if (part[member] !== undefined && !places.includes(member)) lost(part, member)
  }
  if (part.type === 'image') return imageJson(part)
  return part.type === 'audio' ? audioJson(part.base64!, part.mime) : fileJson(part)
}

/** Fields of this protocol that came with a text, such as a mark for a cache. */
function ownEntries({ ext }: Part): readonly Member[] {
  return members(ownExt(ext) ?? '{}')
}

function imageJson(part: Blob & { ext?: Ext }): JsonText {
  const url = part.url ?? dataUrl(part.mime ?? 'image/png', part.base64!)
  const image = object([
    ['url', quote(url)],
    ['detail', ownMember(part.ext, 'detail')],
  ])
  return object([
    ['type', '"image_url"'],
    ['image_url', image],
  ])
}

function audioJson(base64: string, mime = 'audio/wav'): JsonText {
  const audio = object([
    ['data', quote(base64)],
    ['format', quote(mime.replace(/^audio\//, ''))],
  ])
  return object([
    ['type', '"input_audio"'],
    ['input_audio', audio],
  ])
}

function fileJson({ ref, base64, mime = 'application/octet-stream', name }: Blob): JsonText {
  const file = object([
    ['file_id', ref === undefined ? undefined : quote(ref)],
    ['file_data', base64 === undefined ? undefined : quote(dataUrl(mime, base64))],
    ['filename', name === undefined ? undefined : quote(name)],
  ])
  return object([
    ['type', '"file"'],
    ['file', file],
  ])
}

function dataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`
}
