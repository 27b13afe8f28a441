import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Framing } from '../../src/contract/index.ts'
import { encodeFrame, frameDecoder } from '../../src/framing/index.ts'
import { recorder } from './collect.ts'

const KIB = 1024
const FRAMINGS: readonly Framing[] = ['ndjson', 'text', 'sse', 'body']

afterEach(() => vi.restoreAllMocks())

/** Counts the units that decoding looks at or copies: searches to their hit, slices and joins by their result. */
function unitsTouched(framing: Framing, chunks: readonly string[]): number {
  let touched = 0
  const { indexOf, slice, includes } = String.prototype
  const { join } = Array.prototype
  const decoder = frameDecoder(framing, Number.MAX_SAFE_INTEGER, recorder())
  vi.spyOn(String.prototype, 'indexOf').mockImplementation(function (this: string, what: string, from = 0) {
    const at = indexOf.call(this, what, from)
    touched += (at < 0 ? this.length : at) - from
    return at
  })
  vi.spyOn(String.prototype, 'includes').mockImplementation(function (this: string, what: string) {
    touched += this.length
    return includes.call(this, what)
  })
  vi.spyOn(String.prototype, 'slice').mockImplementation(function (this: string, from?: number, to?: number) {
    const part = slice.call(this, from, to)
    touched += part.length
    return part
  })
  vi.spyOn(Array.prototype, 'join').mockImplementation(function (this: unknown[], by?: string) {
    const text = join.call(this, by)
    touched += text.length
    return text
  })
  for (const chunk of chunks) decoder.push(chunk)
  decoder.end()
  vi.restoreAllMocks()
  return touched
}

/** A text in pieces of `size` units. */
function inPieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )
}

describe.each(FRAMINGS)('%s looks at every unit a fixed number of times', (framing) => {
  test('a line of 4 MiB in pieces of 1 KiB', () => {
    const text = encodeFrame(framing, 'x'.repeat(4 * KIB * KIB))
    expect(unitsTouched(framing, inPieces(text, KIB))).toBeLessThan(6 * text.length)
  })

  test('a chunk of many short lines', () => {
    const text = encodeFrame(framing, '1').repeat(64 * KIB)
    expect(unitsTouched(framing, [text])).toBeLessThan(6 * text.length)
  })

  test('an event of many lines', () => {
    const text = encodeFrame(framing, 'x\n'.repeat(64 * KIB))
    expect(unitsTouched(framing, inPieces(text, KIB))).toBeLessThan(6 * text.length)
  })
})
