import { dropped, weakened } from '../../src/codec-kit/index.ts'
import {
  type Citation,
  elements,
  isRecord,
  type JsonText,
  type Loss,
  type Member,
  member,
  members,
  object,
  parse,
  quote,
} from '../../src/model/index.ts'
import { entriesExt, ownExt, ownMember, toExt } from './wire.ts'

/** A page. Chat has its members in one of its own, with what some servers add: the text that it was found by. */
const URL_CITATION = 'url_citation'
const OF_URL: ReadonlySet<string> = new Set(['type', 'url', 'title', 'start_index', 'end_index', 'content'])

/** Reads `annotations`: a list, or null or absent for none; undefined when they are neither. */
export function readAnnotations(json: JsonText | undefined): Citation[] | undefined {
  const list = json === undefined ? null : parse(json)
  if (list === null) return []
  if (!Array.isArray(list)) return undefined
  const read = elements(json!).map(readAnnotation)
  return read.every((citation) => citation !== undefined) ? read : undefined
}

/** Reads one annotation: a source of the text that it is in. */
export function readAnnotation(json: JsonText): Citation | undefined {
  const given = parse(json)
  if (!isRecord(given) || typeof given['type'] !== 'string') return undefined
  const inner = given['type'] === URL_CITATION ? member(json, URL_CITATION) : undefined
  const own = inner ?? json
  const from = inner === undefined ? given : given[URL_CITATION]
  if (!isRecord(from) || (given['type'] === URL_CITATION && typeof from['url'] !== 'string')) return undefined
  const { url, title, filename, file_id: ref, content, start_index: start, end_index: end } = from
  return {
    ...texts({ title: title ?? filename, url, ref, quote: content }),
    ...(isPlace(start) && { start }),
    ...(isPlace(end) && { end }),
    ...ext(given['type'], own),
  }
}

function texts(found: Readonly<Record<'title' | 'url' | 'ref' | 'quote', unknown>>): Citation {
  return Object.fromEntries(Object.entries(found).filter(([, text]) => typeof text === 'string'))
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Members that the model has no place for: further ones of a page, and all of an annotation of another type. */
function ext(type: string, json: JsonText): Pick<Citation, 'ext'> {
  const held = type === URL_CITATION ? entriesExt(members(json).filter(([key]) => !OF_URL.has(key))) : toExt(json)
  return held ? { ext: held } : {}
}

/** The place that an annotation is written for: an answer of one of the APIs, or a text in a request. */
export type AnnotationPlace = 'chat' | 'response' | 'request'

/** Writes a source of a text as an annotation of it; undefined for a source that has no form there. */
export function annotationJson(
  { title, url, ref, quote: cited, start = 0, end = 0, ext }: Citation,
  place: AnnotationPlace,
): JsonText | undefined {
  const own = ownExt(ext)
  if (ownMember(ext, 'type') !== undefined) return placed(own!, start, end)
  if (url !== undefined) {
    const page: Member[] = [
      ['start_index', String(start)],
      ['end_index', String(end)],
      ['url', quote(url)],
      ['title', quote(title ?? '')],
      ...members(own ?? '{}'),
    ]
    if (place !== 'chat') return object([['type', quote(URL_CITATION)], ...page])
    const found = object([...page, ['content', cited === undefined ? undefined : quote(cited)]])
    return object([
      ['type', quote(URL_CITATION)],
      [URL_CITATION, found],
    ])
  }
  const name = title ?? ref
  // A server knows its own files alone.
  if (place !== 'response' || name === undefined) return undefined
  return object([
    ['type', '"file_citation"'],
    ['file_id', quote(ref ?? name)],
    ['filename', quote(name)],
    ['index', String(end)],
  ])
}

/** An annotation as it came, at its place in the text that it is written with. */
function placed(json: JsonText, start: number, end: number): JsonText {
  const moved: Readonly<Record<string, number>> = { start_index: start, end_index: end }
  return object(members(json).map(([key, raw]) => [key, Object.hasOwn(moved, key) ? String(moved[key]) : raw] as const))
}

/** The loss of an annotation's source: all of it, or the quoted text. */
export function citationLoss(citation: Citation, place: AnnotationPlace): Loss | undefined {
  if (annotationJson(citation, place) === undefined) return dropped('citation')
  const isQuoted = citation.quote !== undefined && place !== 'chat' && ownMember(citation.ext, 'type') === undefined
  return isQuoted ? weakened('citation', 'quote') : undefined
}
