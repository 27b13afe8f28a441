import { type Citation, elements, isRecord, type JsonText, object, parse, quote } from '../../src/model/index.ts'
import { ownExt, toExt } from './wire.ts'

const PAGE = 'web_search_result_location'

/** Reads the `citations` of a text: a list, or null or absent for none; undefined when they are neither. */
export function readCitations(json: JsonText | undefined): Citation[] | undefined {
  const list = json === undefined ? null : parse(json)
  if (list === null) return []
  if (!Array.isArray(list)) return undefined
  const read = elements(json!).map(readCitation)
  return read.every((citation) => citation !== undefined) ? read : undefined
}

/** Reads one citation: a source of the whole text that it is in. The provider gets it back as it came. */
export function readCitation(json: JsonText): Citation | undefined {
  const given = parse(json)
  if (!isRecord(given) || typeof given['type'] !== 'string') return undefined
  const { title, document_title: document, url, source, file_id: ref, cited_text: said } = given
  const texts = { title: title ?? document, url: url ?? source, ref, quote: said }
  const known: Citation = Object.fromEntries(Object.entries(texts).filter(([, text]) => typeof text === 'string'))
  return isOurs(given) ? known : { ...known, ext: toExt(json)! }
}

/** True for a page that the provider has not found: it was cited by another one. */
function isOurs({ type, encrypted_index: index }: Record<string, unknown>): boolean {
  return type === PAGE && index === ''
}

/** A source that this API's provider has cited, for a request; it would refuse any other. */
export function ownCitation({ ext }: Citation): JsonText | undefined {
  return ownExt(ext)
}

/** A source for an answer; undefined for a document of another provider. */
export function citationJson(citation: Citation): JsonText | undefined {
  const { title, url, quote: said = '' } = citation
  const own = ownCitation(citation)
  if (own !== undefined || url === undefined) return own
  return object([
    ['type', quote(PAGE)],
    ['cited_text', quote(said)],
    ['url', quote(url)],
    ['title', title === undefined ? 'null' : quote(title)],
    ['encrypted_index', '""'],
  ])
}
