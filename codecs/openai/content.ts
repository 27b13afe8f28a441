import { isBase64, type KnownMembers } from '../../src/codec-kit/index.ts'
import {
  type Blob,
  elements,
  isRecord,
  type JsonText,
  object,
  type Part,
  parse,
  parseObject,
  quote,
} from '../../src/model/index.ts'
import { type Api, withOwn } from './further.ts'
import type { LostPart } from './part-loss.ts'
import { ownExt, ownMember, toExt } from './wire.ts'

/** A content list could not be read; `at` is the place of the part that is wrong. */
export interface WrongContent {
  wrong: string
  at: number
}

/** Reads one type of content part, parsed and raw: a part, or undefined when it is not valid. */
export interface PartReader {
  /** The members that it reads, or need not read. */
  known: KnownMembers
  read(part: Record<string, unknown>, raw: JsonText): Part | undefined
}

/** The reader of each type of content part. */
export type PartReaders = Readonly<Record<string, PartReader>>

/** Reads a text, a list of parts, or null for none. Parts of later versions and of other servers are kept as they are. */
export function readParts(json: JsonText | undefined, api: Api, readers: PartReaders): Part[] | WrongContent {
  const value = json === undefined ? null : parse(json)
  if (value === null) return []
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }]
  if (!Array.isArray(value)) return { wrong: 'must be a string or an array of parts', at: -1 }
  const parts: Part[] = []
  const raws = elements(json!)
  for (const [at, part] of (value as unknown[]).entries()) {
    const read = isRecord(part) ? readPart(part, raws[at]!, api, readers) : 'must be an object'
    if (typeof read === 'string') return { wrong: read, at }
    parts.push(read)
  }
  return parts
}

/** A part, or why it cannot be read. */
function readPart(part: Record<string, unknown>, raw: JsonText, api: Api, readers: PartReaders): Part | string {
  const { type } = part
  if (typeof type !== 'string') return 'has no type'
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (!reader) return { type: 'data', json: raw }
  const read = reader.read(part, raw)
  return read ? withOwn(read, api, raw, part, reader.known) : `is not a valid ${type} part`
}

/** Reads the text of a refusal. */
export function readRefusal(text: unknown): Part | undefined {
  return typeof text === 'string' ? { type: 'text', text, ext: toExt('{"refusal":true}')! } : undefined
}

/** True for a text by which a model has refused. */
export function isRefusal({ ext }: Part): boolean {
  return ownMember(ext, 'refusal') !== undefined
}

/** True for data that is a content part of later versions or of other servers: it says its type. */
export function isContentPart({ json, mime }: Part & { type: 'data' }): boolean {
  return mime === undefined && typeof parseObject(json)?.['type'] === 'string'
}

/** Reads an `input_audio` part. */
export const AUDIO: PartReader = {
  known: { type: true, input_audio: { data: true, format: true } },
  read({ input_audio: audio }) {
    const { data, format } = isRecord(audio) ? audio : {}
    if (typeof data !== 'string' || typeof format !== 'string' || !isBase64(data)) return undefined
    return { type: 'audio', base64: data, mime: `audio/${format}` }
  },
}

/** The `ext` of data that is an item of the Responses API, of a type which the model has no place for. */
export const ITEM = '{"item":true}'

/** True for data that is such an item: it stands for itself in a conversation, in no message. */
export function isItemData({ type, ext }: Part): boolean {
  return type === 'data' && ownExt(ext) === ITEM
}

/** The parts of a content, written; a text without anything where none of them has a form. */
export function listJson(written: readonly JsonText[]): JsonText {
  return written.length === 0 ? '""' : `[${written.join(',')}]`
}

const URL_SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** The bytes of a data URL (RFC 2397), or a URL; undefined for any other text, and for bytes that are not base64. */
export function blobOfUrl(url: string): Blob | undefined {
  if (!url.startsWith('data:')) return URL_SCHEME.test(url) ? { url } : undefined
  const comma = url.indexOf(',')
  const [mime, ...marks] = url.slice('data:'.length, comma).split(';')
  const blob = marks.at(-1) === 'base64' ? blobOfBytes(url.slice(comma + 1)) : undefined
  return blob && { ...(mime && { mime }), ...blob }
}

/** Bytes as they stand in a member of their own; undefined when they are not base64. */
export function blobOfBytes(base64: string): Blob | undefined {
  return isBase64(base64) ? { base64 } : undefined
}

/** A part with bytes. */
export type FilePart = Part & { type: 'image' | 'audio' | 'file' }

/** The members of each kind of file that a wire has a place for. */
export type Places = Readonly<Record<FilePart['type'], readonly (keyof Blob)[]>>

/** True when the bytes of a file, or what stands for them, have a place; reports what has none. */
export function fitsPlaces(part: FilePart, all: Places, lost: LostPart): boolean {
  const places = all[part.type]
  const held = (['url', 'ref', 'base64'] as const).filter((member) => part[member] !== undefined)
  if (!held.some((member) => places.includes(member))) {
    lost(part)
    return false
  }
  for (const member of [...held, 'name'] as const) {
    if (part[member] !== undefined && !places.includes(member)) lost(part, member)
  }
  return true
}

/** The URL of an image: its own, or one with its bytes. */
export function imageUrl({ url, mime = 'image/png', base64 }: Blob): string {
  return url ?? dataUrl(mime, base64!)
}

/** Writes an `input_audio` part. */
export function audioJson({ base64, mime = 'audio/wav' }: Blob): JsonText {
  const audio = object([
    ['data', quote(base64!)],
    ['format', quote(mime.replace(/^audio\//, ''))],
  ])
  return object([
    ['type', '"input_audio"'],
    ['input_audio', audio],
  ])
}

/** A URL with the bytes in it. */
export function dataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`
}
