import type { Citation, Part } from '../model/index.ts'

/** A text, and its sources. */
export interface Cited {
  readonly text: string
  readonly citations?: readonly Citation[]
}

/** The length of a text in Unicode characters, as places of citations are counted. */
export function characters(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** A citation of a text that begins `before` characters after the beginning of another, with its place in that. */
export function placedCitation(citation: Citation, text: string, before: number): Citation & Place {
  const length = characters(text)
  const end = Math.min(citation.end ?? length, length)
  return { ...citation, start: before + Math.min(citation.start ?? 0, end), end: before + end }
}

interface Place {
  start: number
  end: number
}

/** A citation of a text that ends with `tail`, with its place in that: what it supports before is at the beginning. */
export function citationAtEnd(citation: Citation, text: string, tail: string): Citation & Place {
  const before = characters(text) - characters(tail)
  const { start = 0, end = characters(text) } = citation
  return placedCitation({ ...citation, start: Math.max(0, start - before), end: Math.max(0, end - before) }, tail, 0)
}

/**
 * The sources of texts that are joined to one, each with its place in that. `joint` is the text between two of them.
 */
export function joinedCitations(texts: readonly Cited[], joint = ''): (Citation & Place)[] {
  // Most texts have no sources, and are not counted.
  if (texts.every(({ citations }) => citations === undefined)) return []
  let before = 0
  return texts.flatMap(({ text, citations = [] }) => {
    const placed = citations.map((citation) => placedCitation(citation, text, before))
    before += characters(text) + characters(joint)
    return placed
  })
}

/** The sources of the text of a message that has these parts. */
export function citationsOf(parts: readonly Part[] = []): (Citation & Place)[] {
  return joinedCitations(parts.filter((part) => part.type === 'text'))
}

/**
 * A text in pieces, in order: each citation is with the piece that it supports, and supports all of that. Where places
 * overlap, the later one begins at the end of the earlier one.
 */
export function citedPieces({ text, citations = [] }: Cited): (Cited & { citations: readonly Citation[] })[] {
  if (citations.length === 0) return [{ text, citations }]
  const chars = [...text]
  const slice = (from: number, to: number): string => chars.slice(from, to).join('')
  const pieces: { text: string; citations: Citation[] }[] = []
  let at = 0
  const places = citations.map((citation) => placedCitation(citation, text, 0)).sort((a, b) => a.end - b.end)
  for (const { start, end, ...citation } of places) {
    const last = pieces.at(-1)
    if (last && end <= at) {
      last.citations.push(citation)
      continue
    }
    if (start > at && start < end) pieces.push({ text: slice(at, start), citations: [] })
    const from = start < end ? Math.max(at, start) : at
    pieces.push({ text: slice(from, end), citations: [citation] })
    at = end
  }
  if (at < chars.length) pieces.push({ text: slice(at, chars.length), citations: [] })
  return pieces
}
