import {
  type Blob,
  type Ext,
  isRecord,
  type JsonText,
  type Member,
  members,
  object,
  type Part,
  quote,
} from '../../../src/model/index.ts'
import {
  audioJson,
  blobOfBytes,
  blobOfUrl,
  dataUrl,
  type FilePart,
  fitsPlaces,
  imageUrl,
  isContentPart,
  type LostPart,
  NAME,
  type PartReaders,
  type Places,
  readAudio,
  readParts,
  type WrongContent,
} from '../content.ts'
import { entriesExt, ownExt, ownMember } from '../wire.ts'

/** The parts of a `content`: a text, a list of parts, or null for none. */
export function readContent(json: JsonText | undefined): Part[] | WrongContent {
  return readParts(json, READERS)
}

const READERS = {
  text: ({ text }) => (typeof text === 'string' ? { type: 'text', text } : undefined),
  refusal: ({ refusal }) => (typeof refusal === 'string' ? { type: 'text', text: refusal } : undefined),
  image_url: ({ image_url: image }) => {
    const { url, detail } = isRecord(image) ? image : { url: image, detail: undefined }
    const blob = typeof url === 'string' ? blobOfUrl(url) : undefined
    const ext = entriesExt([['detail', typeof detail === 'string' ? quote(detail) : undefined]])
    return blob && { type: 'image', ...blob, ...(ext && { ext }) }
  },
  input_audio: readAudio,
  file: ({ file }) => {
    const { file_data: data, file_id: ref, filename } = isRecord(file) ? file : {}
    const name = typeof filename === 'string' ? { name: filename } : {}
    if (typeof ref === 'string') return { type: 'file', ref, ...name }
    const blob = typeof data === 'string' ? (blobOfUrl(data) ?? blobOfBytes(data)) : undefined
    return blob && { type: 'file', ...blob, ...name }
  },
} as const satisfies PartReaders

/** Parts as a `content`: one text where there is nothing else. */
export function contentJson(parts: readonly Part[], lost: LostPart): JsonText {
  const [first, ...others] = parts
  if (first === undefined) return '""'
  if (others.length === 0 && first.type === 'text' && isPlain(first)) return quote(first.text)
  return `[${parts.flatMap((part) => partJson(part, lost) ?? []).join(',')}]`
}

function partJson(part: Part, lost: LostPart): JsonText | undefined {
  if (part.ext && ownExt(part.ext) === undefined) lost(part, 'ext')
  if (part.type === 'text' && part.citations) lost(part, 'citations')
  switch (part.type) {
    case 'text':
      return object([['type', '"text"'], ['text', quote(part.text)], ...ownEntries(part)])
    case 'data':
      if (isContentPart(part)) return part.json
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

/** Fields of this protocol that came with a text, such as a mark for a cache. The name is one of the message. */
function ownEntries({ ext }: Part): readonly Member[] {
  return members(ownExt(ext) ?? '{}').filter(([key]) => key !== NAME)
}

/** True for a text with nothing besides. */
function isPlain(part: Part & { type: 'text' }): boolean {
  if (part.citations !== undefined) return false
  return part.ext === undefined || (ownExt(part.ext) !== undefined && ownEntries(part).length === 0)
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
