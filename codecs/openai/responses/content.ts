import { type Cited, citationsOf } from '../../../src/codec-kit/index.ts'
import { type Blob, type JsonText, member, members, object, type Part, quote } from '../../../src/model/index.ts'
import { annotationJson, readAnnotations } from '../annotations.ts'
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

/** The parts of the `content` of a message, or of the `output` of a call: a text, or a list of parts. */
export function readContent(json: JsonText | undefined): Part[] | WrongContent {
  return readParts(json, READERS)
}

function readText({ text }: Record<string, unknown>, raw: JsonText): Part | undefined {
  const citations = readAnnotations(member(raw, 'annotations'))
  if (typeof text !== 'string' || !citations) return undefined
  return { type: 'text', text, ...(citations.length > 0 && { citations }) }
}

const READERS = {
  input_text: readText,
  output_text: readText,
  text: readText,
  refusal: ({ refusal }) => (typeof refusal === 'string' ? { type: 'text', text: refusal } : undefined),
  input_image: ({ image_url: url, file_id: ref, detail }) => {
    const blob = typeof url === 'string' ? blobOfUrl(url) : typeof ref === 'string' ? { ref } : undefined
    const ext = entriesExt([['detail', typeof detail === 'string' ? quote(detail) : undefined]])
    return blob && { type: 'image', ...blob, ...(ext && { ext }) }
  },
  input_audio: readAudio,
  input_file: ({ file_data: data, file_id: ref, file_url: url, filename }) => {
    const blob = readFile(data, ref, url)
    return blob && { type: 'file', ...blob, ...(typeof filename === 'string' && { name: filename }) }
  },
} as const satisfies PartReaders

function readFile(data: unknown, ref: unknown, url: unknown): Blob | undefined {
  if (typeof ref === 'string') return { ref }
  if (typeof url === 'string') return blobOfUrl(url)
  return typeof data === 'string' ? (blobOfUrl(data) ?? blobOfBytes(data)) : undefined
}

/** The members for bytes, a URL, a file's id and the name of the file. */
const PLACES: Places = {
  image: ['url', 'ref', 'base64'],
  audio: ['base64'],
  file: ['url', 'ref', 'base64', 'name'],
}

/** Parts as a `content`; `text` is the type of a text in it, which differs between the two sides of a conversation. */
export function contentJson(parts: readonly Part[], text: 'input_text' | 'output_text', lost: LostPart): JsonText {
  return `[${parts.flatMap((part) => partJson(part, text, lost) ?? []).join(',')}]`
}

/** The result of a call as an `output`: one text where there is nothing else. */
export function outputJson(parts: readonly Part[], lost: LostPart): JsonText {
  const [first, ...others] = parts
  if (first === undefined) return '""'
  if (others.length === 0 && first.type === 'text' && first.ext === undefined && first.citations === undefined)
    return quote(first.text)
  return contentJson(parts, 'input_text', lost)
}

function partJson(part: Part, text: 'input_text' | 'output_text', lost: LostPart): JsonText | undefined {
  // The API has no names of speakers.
  if (part.ext && (ownExt(part.ext) === undefined || ownMember(part.ext, NAME) !== undefined)) lost(part, 'ext')
  switch (part.type) {
    case 'text':
      return textJson(part.text, text, ownExt(part.ext), annotationsOf(part, text, lost))
    case 'data':
      return isContentPart(part) ? part.json : textJson(part.json, text)
    case 'image':
    case 'audio':
    case 'file':
      return fileJson(part, lost)
    default:
      lost(part)
      return undefined
  }
}

/** The sources of a text that an answer of the model has; other texts have no place for them. */
function annotationsOf(part: Part & Cited, type: 'input_text' | 'output_text', lost: LostPart): readonly JsonText[] {
  return citationsOf([part]).flatMap((citation) => {
    const json = type === 'output_text' ? annotationJson(citation, 'request') : undefined
    if (json === undefined) lost(part, 'citations')
    return json ?? []
  })
}

/** A text with the fields that came with it, such as a mark for a cache. */
function textJson(
  text: string,
  type: 'input_text' | 'output_text',
  own: JsonText = '{}',
  annotations: readonly JsonText[] = [],
): JsonText {
  return object([
    ['type', quote(type)],
    ['text', quote(text)],
    ...(type === 'output_text' ? ([['annotations', `[${annotations.join(',')}]`]] as const) : []),
    ...members(own).filter(([key]) => key !== NAME),
  ])
}

function fileJson(part: FilePart, lost: LostPart): JsonText | undefined {
  if (!fitsPlaces(part, PLACES, lost)) return undefined
  if (part.type === 'audio') return audioJson(part)
  return part.type === 'image' ? imageJson(part) : documentJson(part)
}

function imageJson(part: FilePart): JsonText {
  const shown = part.ref === undefined ? quote(imageUrl(part)) : undefined
  return object([
    ['type', '"input_image"'],
    ['detail', ownMember(part.ext, 'detail') ?? '"auto"'],
    ['image_url', shown],
    ['file_id', part.ref === undefined ? undefined : quote(part.ref)],
  ])
}

function documentJson({ url, ref, base64, mime = 'application/octet-stream', name }: Blob): JsonText {
  const text = (value: string | undefined): JsonText | undefined => (value === undefined ? undefined : quote(value))
  return object([
    ['type', '"input_file"'],
    ['file_id', text(ref)],
    ['file_url', ref === undefined ? text(url) : undefined],
    ['file_data', base64 === undefined ? undefined : quote(dataUrl(mime, base64))],
    ['filename', text(name)],
  ])
}
