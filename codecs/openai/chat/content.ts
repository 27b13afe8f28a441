import { withFurther } from '../../../src/codec-kit/index.ts'
import { type Blob, type Ext, isRecord, type JsonText, object, type Part, quote } from '../../../src/model/index.ts'
import {
  AUDIO,
  audioJson,
  blobOfBytes,
  blobOfUrl,
  dataUrl,
  type FilePart,
  fitsPlaces,
  imageUrl,
  isContentPart,
  isRefusal,
  listJson,
  type PartReaders,
  type Places,
  readParts,
  readRefusal,
  type WrongContent,
} from '../content.ts'
import { ownOf, reportOwn } from '../further.ts'
import type { LostPart } from '../part-loss.ts'
import { entriesExt, ownMember } from '../wire.ts'

/** The parts of a `content`: a text, a list of parts, or null for none. */
export function readContent(json: JsonText | undefined): Part[] | WrongContent {
  return readParts(json, 'chat', READERS)
}

const READERS: PartReaders = {
  text: {
    known: { type: true, text: true },
    read: ({ text }) => (typeof text === 'string' ? { type: 'text', text } : undefined),
  },
  refusal: { known: { type: true, refusal: true }, read: ({ refusal }) => readRefusal(refusal) },
  image_url: {
    known: { type: true, image_url: { url: true, detail: true } },
    read({ image_url: image }) {
      const { url, detail } = isRecord(image) ? image : { url: image, detail: undefined }
      const blob = typeof url === 'string' ? blobOfUrl(url) : undefined
      const ext = entriesExt([['detail', typeof detail === 'string' ? quote(detail) : undefined]])
      return blob && { type: 'image', ...blob, ...(ext && { ext }) }
    },
  },
  input_audio: AUDIO,
  file: {
    known: { type: true, file: { file_data: true, file_id: true, filename: true } },
    read({ file }) {
      const { file_data: data, file_id: ref, filename } = isRecord(file) ? file : {}
      const name = typeof filename === 'string' ? { name: filename } : {}
      if (typeof ref === 'string') return { type: 'file', ref, ...name }
      const blob = typeof data === 'string' ? (blobOfUrl(data) ?? blobOfBytes(data)) : undefined
      return blob && { type: 'file', ...blob, ...name }
    },
  },
}

/** Parts as a `content`: one text where there is nothing else. */
export function contentJson(parts: readonly Part[], lost: LostPart): JsonText {
  const [first, ...others] = parts
  if (first === undefined) return '""'
  if (others.length === 0 && isPlain(first)) {
    reportOwn(first, 'chat', lost)
    return quote(first.text)
  }
  return listJson(parts.flatMap((part) => partJson(part, lost) ?? []))
}

function partJson(part: Part, lost: LostPart): JsonText | undefined {
  reportOwn(part, 'chat', lost)
  if (part.type === 'text' && part.citations) lost(part, 'citations')
  const json = bareJson(part, lost)
  return json && withFurther(json, ownOf(part, 'chat'))
}

function bareJson(part: Part, lost: LostPart): JsonText | undefined {
  switch (part.type) {
    case 'text':
      return isRefusal(part) ? `{"type":"refusal","refusal":${quote(part.text)}}` : textJson(part.text)
    case 'data':
      return isContentPart(part) ? part.json : textJson(part.json)
    case 'image':
    case 'audio':
    case 'file':
      return blobJson(part, lost)
    default:
      lost(part)
      return undefined
  }
}

/** The members for bytes, a URL, a file's id and the name of the file. */
const PLACES: Places = {
  image: ['url', 'base64'],
  audio: ['base64'],
  file: ['ref', 'base64', 'name'],
}

function blobJson(part: FilePart, lost: LostPart): JsonText | undefined {
  if (!fitsPlaces(part, PLACES, lost)) return undefined
  if (part.type === 'image') return imageJson(part)
  return part.type === 'audio' ? audioJson(part) : fileJson(part)
}

function textJson(text: string): JsonText {
  return object([
    ['type', '"text"'],
    ['text', quote(text)],
  ])
}

/** True for a text with nothing besides, as a part of a message: it needs no part on the wire. */
export function isPlain(part: Part): part is Part & { type: 'text' } {
  return part.type === 'text' && part.citations === undefined && ownOf(part, 'chat') === undefined
}

function imageJson(part: Blob & { ext?: Ext }): JsonText {
  const image = object([
    ['url', quote(imageUrl(part))],
    ['detail', ownMember(part.ext, 'detail')],
  ])
  return object([
    ['type', '"image_url"'],
    ['image_url', image],
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
