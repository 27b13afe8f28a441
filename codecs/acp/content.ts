import { dropped, weakened } from '../../src/codec-kit/index.ts'
import {
  type Blob,
  type Ext,
  isRecord,
  type JsonText,
  type Loss,
  object,
  type Part,
  parseObject,
  quote,
} from '../../src/model/index.ts'
import { ownExt, toExt } from './wire.ts'

/** The kinds of content that a side takes besides text and links (`promptCapabilities`). */
export interface ContentKinds {
  image: boolean
  audio: boolean
  embedded: boolean
}

/** A side that takes everything, such as a client in the output of an agent. */
export const ALL_KINDS: ContentKinds = { image: true, audio: true, embedded: true }

type Fields = Record<string, unknown>

/** Reads a content block (a raw object). One that is not understood becomes a data part. */
export function readBlock(json: JsonText): Part {
  const block = parseObject(json) ?? {}
  const { type } = block
  const part = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type]!(block) : undefined
  if (!part) return { type: 'data', json }
  const ext = extOf(json, block)
  return ext ? { ...part, ext } : part
}

const READERS: Readonly<Record<string, (block: Fields) => Part | undefined>> = {
  text: ({ text }) => (typeof text === 'string' ? { type: 'text', text } : undefined),
  image: (block) => bytesOf('image', block),
  audio: (block) => bytesOf('audio', block),
  resource_link: ({ uri, name, mimeType, size }) => {
    if (typeof uri !== 'string') return undefined
    return { type: 'file', url: uri, ...texts({ name, mime: mimeType }), ...(isSize(size) && { bytes: size }) }
  },
  resource: ({ resource }) => {
    const { uri, text, blob, mimeType } = isRecord(resource) ? resource : {}
    if (typeof uri !== 'string') return undefined
    // Most agents have no place for files, but they need the text.
    if (typeof text === 'string') return { type: 'text', text: `${uri}:\n${text}` }
    return typeof blob === 'string' ? { type: 'file', url: uri, base64: blob, ...texts({ mime: mimeType }) } : undefined
  },
}

function bytesOf(type: 'image' | 'audio', { data, mimeType, uri }: Fields): Part | undefined {
  return typeof data === 'string' ? { type, base64: data, ...texts({ mime: mimeType, url: uri }) } : undefined
}

function texts(fields: Readonly<Record<string, unknown>>): Blob {
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => typeof text === 'string' && text !== ''))
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size) && (size as number) >= 0
}

/** The whole block, where its part does not say all of it: embedded resources, annotations, titles and `_meta`. */
function extOf(json: JsonText, block: Fields): Ext | undefined {
  for (const key in block) {
    if (!KNOWN.has(key) && block[key] !== null) return toExt(json)
  }
  return undefined
}

const KNOWN: ReadonlySet<string> = new Set(['type', 'text', 'data', 'mimeType', 'uri', 'name', 'size'])

/** Receives a part that the other side does not take, or the loss of a field of it. */
export type LostPart = (part: Part, field?: string) => void

/** The loss of a part, of a field of it, or of the fields that another protocol has for it (`ext`). */
export function partLoss(part: Part, field?: string): Loss {
  if (field === 'ext') return dropped('part.ext', part.ext?.protocol)
  return field === undefined ? dropped(`part.${part.type}`) : weakened(`part.${part.type}`, field)
}

/** Writes a part as a content block; undefined for a part that the other side does not take. */
export function writeBlock(part: Part, kinds: ContentKinds, lost: LostPart): JsonText | undefined {
  const own = ownExt(part.ext)
  if (part.ext && own === undefined) lost(part, 'ext')
  if (own !== undefined && isTaken(own, kinds)) return own
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'data':
      lost(part, 'type')
      return textBlock(part.json)
    case 'image':
    case 'audio':
    case 'file': {
      const block = blobBlock(part, kinds)
      if (block === undefined) lost(part)
      else if (part.ref !== undefined) lost(part, 'ref')
      // Only links have a place for it.
      const isBytes = part.type !== 'file' && part.base64 !== undefined && kinds[part.type]
      if (isBytes && part.name !== undefined) lost(part, 'name')
      return block
    }
    default:
      lost(part)
      return undefined
  }
}

/** True for a block of a kind that the other side takes. */
function isTaken(json: JsonText, kinds: ContentKinds): boolean {
  switch (parseObject(json)?.['type']) {
    case 'image':
      return kinds.image
    case 'audio':
      return kinds.audio
    case 'resource':
      return kinds.embedded
    default:
      return true
  }
}

/** A text block. */
export function textBlock(text: string): JsonText {
  return `{"type":"text","text":${quote(text)}}`
}

function blobBlock(
  part: Part & Blob & { type: 'image' | 'audio' | 'file' },
  kinds: ContentKinds,
): JsonText | undefined {
  const { type, base64, url, name } = part
  const mime = part.mime ?? (type === 'image' ? 'image/png' : type === 'audio' ? 'audio/wav' : undefined)
  if (base64 !== undefined && type !== 'file' && kinds[type]) {
    return object({
      type: quote(type),
      data: quote(base64),
      mimeType: quote(mime!),
      uri: type === 'image' && url !== undefined ? quote(url) : undefined,
    })
  }
  if (base64 !== undefined && kinds.embedded) return resourceBlock(url ?? `file:///${name ?? type}`, mime, base64)
  if (url === undefined) return undefined
  return object({
    type: '"resource_link"',
    uri: quote(url),
    name: quote(name ?? nameOf(url)),
    mimeType: quote(part.mime),
    size: isSize(part.bytes) ? String(part.bytes) : undefined,
  })
}

function resourceBlock(uri: string, mime: string | undefined, base64: string): JsonText {
  const resource = object({
    uri: quote(uri),
    mimeType: quote(mime),
    blob: quote(base64),
  })
  return `{"type":"resource","resource":${resource}}`
}

/** The last segment of a URL, as the name that a link has to have. */
function nameOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0]!.replace(/(?<!\/)\/+$/, '')
  return path.slice(path.lastIndexOf('/') + 1) || url
}
