import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  characters,
  citationAtEnd,
  citationsOf,
  citedPieces,
  joinedCitations,
  placedCitation,
} from '../../src/codec-kit/index.ts'
import type { Citation } from '../../src/model/index.ts'

const text = fc.string({ unit: 'binary', maxLength: 12 })
const place = fc.integer({ min: 0, max: 14 })
const citation: fc.Arbitrary<Citation> = fc
  .record({ url: fc.webUrl(), start: place, end: place }, { requiredKeys: ['url'] })
  .map((given) => ({ ...given }))

describe('pieces of a text with sources', () => {
  test('are together the text, and have every source once', () => {
    fc.assert(
      fc.property(text, fc.array(citation, { maxLength: 4 }), (said, citations) => {
        const pieces = citedPieces({ text: said, citations })
        expect(pieces.map((piece) => piece.text).join('')).toBe(said)
        const urls = (all: readonly Citation[]): string[] => all.map(({ url }) => url!).sort()
        expect(urls(pieces.flatMap((piece) => piece.citations))).toEqual(urls(citations))
      }),
    )
  })

  test('end where the place of a source ends, and begin where it begins', () => {
    const cut = (...citations: Citation[]) =>
      citedPieces({ text: 'a🌧cdef', citations }).map((piece) => [piece.text, piece.citations.map(({ title }) => title)])
    expect(cut({ title: 'x', start: 1, end: 2 })).toEqual([
      ['a', []],
      ['🌧', ['x']],
      ['cdef', []],
    ])
    expect(cut({ title: 'x' })).toEqual([['a🌧cdef', ['x']]])
    expect(
      cut({ title: 'y', start: 2, end: 5 }, { title: 'x', start: 0, end: 3 }, { title: 'z', start: 1, end: 5 }),
    ).toEqual([
      ['a🌧c', ['x']],
      ['de', ['y', 'z']],
      ['f', []],
    ])
    // A point belongs to the text before it.
    expect(cut({ title: 'x', start: 3, end: 3 })).toEqual([
      ['a🌧c', ['x']],
      ['def', []],
    ])
    expect(citedPieces({ text: 'plain' })).toEqual([{ text: 'plain', citations: [] }])
  })
})

test('a source of the end of a text is placed in that', () => {
  const within = (given: Citation) => {
    const { start, end } = citationAtEnd(given, 'One 🌧two', 'two')
    return [start, end]
  }
  expect([
    within({ start: 5, end: 8 }),
    within({ start: 2, end: 7 }),
    within({ start: 0, end: 3 }),
    within({}),
  ]).toEqual([
    [0, 3],
    [0, 2],
    [0, 0],
    [0, 3],
  ])
})

describe('sources of joined texts', () => {
  test('support the same characters as before', () => {
    const cited = fc.record({ text, citations: fc.array(citation, { maxLength: 3 }) })
    fc.assert(
      fc.property(fc.array(cited, { maxLength: 4 }), fc.constantFrom('', '\n\n'), (texts, joint) => {
        const all = [...texts.map((one) => one.text).join(joint)].length
        expect(characters(texts.map((one) => one.text).join(joint))).toBe(all)
        const whole = [...texts.map((one) => one.text).join(joint)]
        const before = texts.flatMap((one) =>
          one.citations.map((given) => {
            const { start, end } = placedCitation(given, one.text, 0)
            return [...one.text].slice(start, end).join('')
          }),
        )
        expect(joinedCitations(texts, joint).map(({ start, end }) => whole.slice(start, end).join(''))).toEqual(before)
      }),
    )
  })

  test('are those of the text parts of a message', () => {
    expect(citationsOf()).toEqual([])
    expect(
      citationsOf([
        { type: 'text', text: 'ab' },
        { type: 'image', url: 'u' },
        { type: 'text', text: 'cd', citations: [{ title: 'x' }] },
      ]),
    ).toEqual([{ title: 'x', start: 2, end: 4 }])
  })
})
