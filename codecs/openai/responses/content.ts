import { type Cited, citationsOf, withFurther } from '../../../src/codec-kit/index.ts'
import { type Blob, type JsonText, member, object, type Part, quote } from '../../../src/model/index.ts'
import { annotationJson, readAnnotations } from '../annotations.ts'
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
  type PartReader,
  type PartReaders,
  type Places,
  readParts,
  readRefusal,
  type WrongContent,
} from '../content.ts'
import { ownOf, reportOwn } from '../further.ts'
import type { LostPart } from '../part-loss.ts'
import { entriesExt, ownMember } from '../wire.ts'

/** The parts of the `content` of a message, or of the `output` of a call: a text, or a list of parts. */
export function readContent(json: JsonText | undefined): Part[] | WrongContent {
  return readParts(json, 'responses', READERS)
}

const TEXT: PartReader = {
  known: { type: true, text: true, annotations: true, logprobs: true },
  read({ text }, raw) {
    const citations = readAnnotations(member(raw, 'annotations'))
    if (typeof text !== 'string' || !citations) return undefined
    return { type: 'text', text, ...(citations.length > 0 && { citations }) }
  },
}

const READERS: PartReaders = {
  input_text: TEXT,
  output_text: TEXT,
  text: TEXT,
  refusal: { known: { type: true, refusal: true }, read: ({ refusal }) => readRefusal(refusal) },
  input_image: {
    known: { type: true, image_url: true, file_id: true, detail: true },
    read({ image_url: url, file_id: ref, detail }) {
      const blob = typeof url === 'string' ? blobOfUrl(url) : typeof ref === 'string' ? { ref } : undefined
      const ext = entriesExt([['detail', typeof detail === 'string' ? quote(detail) : undefined]])
      return blob && { type: 'image', ...blob, ...(ext && { ext }) }
    },
  },
  input_audio: AUDIO,
  input_file: {
    known: { type: true, file_data: true, file_id: true, file_url: true, filename: true },
    read({ file_data: data, file_id: ref, file_url: url, filename }) {
      const blob = readFile(data, ref, url)
      return blob && { type: 'file', ...blob, ...(typeof filename === 'string' && { name: filename }) }
    },
  },
}

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
  return listJson(parts.flatMap((part) => partJson(part, text, lost) ?? []))
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
  reportOwn(part, 'responses', lost)
  const json = bareJson(part, text, lost)
  return json && withFurther(json, ownOf(part, 'responses'))
}

function bareJson(part: Part, text: 'input_text' | 'output_text', lost: LostPart): JsonText | undefined {
  switch (part.type) {
    case 'text':
      if (text === 'output_text' && isRefusal(part)) return `{"type":"refusal","refusal":${quote(part.text)}}`
      return textJson(part.text, text, annotationsOf(part, text, lost))
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

function textJson(text: string, type: 'input_text' | 'output_text', annotations: readonly JsonText[] = []): JsonText {
  return object([
    ['type', quote(type)],
    ['text', quote(text)],
    ['annotations', type === 'output_text' ? `[${annotations.join(',')}]` : undefined],
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
