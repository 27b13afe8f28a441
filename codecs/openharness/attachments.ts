import type * as v from 'valibot'
import { type JsonText, object, type Part, quote } from '../../src/model/index.ts'
import type { attachment } from './schema.ts'

/** A part that stands for bytes. */
export type BlobPart = Extract<Part, { type: 'image' | 'audio' | 'file' }>

/** Fields of an attachment (section 9.1) that a part holds; `asset_id` is not one of them: a part has one opaque id. */
const HELD = new Set(['ref_id', 'uri', 'mime_type', 'filename', 'size_bytes'])

/** Opaque references may be long; everything else that looks like base64 and is longer than this is a blob. */
const LONGEST_VALUE = 256
const LONGEST_REFERENCE = 1024
const REFERENCES = new Set(['ref_id', 'asset_id', 'uri'])

/** Members that hold bytes by value under their usual names. */
const BYTES_BY_VALUE = new Set(['base64', 'b64', 'b64_json', 'data', 'bytes', 'blob', 'content_base64', 'file_data'])

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** The path of a member within `value` that holds bytes by value (base64, a `data:` URI), or undefined. */
export function embeddedBytes(value: unknown, root: string): string | undefined {
  const waiting: [path: string, key: string, value: unknown][] = [[root, '', value]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path, key, inner] = next
    if (typeof inner === 'string' && holdsBytes(key, inner)) return path
    if (typeof inner !== 'object' || inner === null) continue
    for (const [name, member] of Object.entries(inner)) {
      waiting.push([`${path}.${name}`, Array.isArray(inner) ? key : name, member])
    }
  }
  return undefined
}

function holdsBytes(key: string, value: string): boolean {
  if (/^\s*data:/i.test(value)) return true
  if (value !== '' && BYTES_BY_VALUE.has(key.toLowerCase())) return true
  return value.length > (REFERENCES.has(key) ? LONGEST_REFERENCE : LONGEST_VALUE) && BASE64.test(value)
}

/** An attachment after validation. */
export type Attachment = v.InferOutput<typeof attachment>

/** The part of an attachment; undefined when it names nothing that can be fetched. */
export function partOf({ ref_id, uri, asset_id, mime_type, filename, size_bytes }: Attachment): BlobPart | undefined {
  const ref = ref_id ?? asset_id
  if (ref === undefined && uri === undefined) return undefined
  return {
    type: kindOf(mime_type),
    ...(mime_type !== undefined && { mime: mime_type }),
    ...(filename !== undefined && { name: filename }),
    ...(uri !== undefined && { url: uri }),
    ...(ref !== undefined && { ref }),
    ...(size_bytes !== undefined && { bytes: size_bytes }),
  }
}

function kindOf(mime: string | undefined): BlobPart['type'] {
  if (mime?.startsWith('image/')) return 'image'
  return mime?.startsWith('audio/') ? 'audio' : 'file'
}

/** True when the part of an attachment says all that the attachment does. */
export function heldByPart(attachment: object): boolean {
  const keys = Object.keys(attachment)
  return keys.every((key) => HELD.has(key)) && (keys.includes('ref_id') || keys.includes('uri'))
}

/** True for a part of bytes that can travel as a reference. */
export function isReference(part: Part): part is BlobPart {
  if (part.type !== 'image' && part.type !== 'audio' && part.type !== 'file') return false
  return part.ref !== undefined || (part.url !== undefined && !/^\s*data:/i.test(part.url))
}

/** A part as an attachment; bytes by value stay out. */
export function attachmentJson(part: BlobPart): JsonText {
  const { url, bytes } = part
  return object({
    ref_id: quote(part.ref),
    uri: url === undefined || /^\s*data:/i.test(url) ? undefined : quote(url),
    mime_type: quote(part.mime),
    filename: quote(part.name),
    size_bytes: bytes !== undefined && Number.isSafeInteger(bytes) && bytes >= 0 ? String(bytes) : undefined,
  })
}

/** The references to bytes among parts. `lost` gets what is neither one nor text. */
export function references(parts: readonly Part[], lost: (part: Part) => void): JsonText[] {
  return parts.flatMap((part) => {
    if (isReference(part)) return attachmentJson(part)
    if (part.type !== 'text') lost(part)
    return []
  })
}
