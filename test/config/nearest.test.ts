import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatPath, formatProblem, suggest, valueAt, withValue } from '../../src/config/errors.ts'
import { nearest } from '../../src/config/nearest.ts'

const KNOWN = ['agents', 'routes', 'server', 'store', 'telemetry']

describe('the nearest word', () => {
  test.each([
    ['agents', 'agents'],
    ['agent', 'agents'],
    ['agnets', 'agents'],
    ['AGENTS', 'agents'],
    ['sever', 'server'],
    ['srever', 'server'],
    ['telemtry', 'telemetry'],
    ['stoer', 'store'],
    ['x', undefined],
    ['', undefined],
    ['something', undefined],
  ])('of %j is %s', (word, known) => {
    expect(nearest(word, KNOWN)).toBe(known)
  })

  test('is the first of those that are equally near', () => {
    expect(nearest('cat', ['bat', 'rat'])).toBe('bat')
    expect(nearest('cat', ['rat', 'bat', 'cat'])).toBe('cat')
  })

  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 8 })

  test('of a known word is itself', () => {
    fc.assert(fc.property(letters, fc.array(letters), (word, others) => nearest(word, [...others, word]) === word))
  })

  test('is found after one mistake', () => {
    fc.assert(
      fc.property(letters, fc.nat(), fc.constantFrom('drop', 'add', 'swap', 'replace'), (word, place, how) => {
        const at = place % word.length
        const [before, here, after] = [word.slice(0, at), word[at]!, word.slice(at + 1)]
        const wrong = {
          drop: before + after,
          add: `${before}x${here}${after}`,
          replace: `${before}x${after}`,
          swap: '',
        }
        const swapped = before + (after[0] ?? '') + here + after.slice(1)
        const mistyped = how === 'swap' ? swapped : wrong[how]
        fc.pre(mistyped !== '')
        expect(nearest(mistyped, [word])).toBe(word)
      }),
    )
  })
})

test.each([
  ['agnets', KNOWN, 'did you mean "agents"?'],
  ['zzz', ['a', 'b'], 'known: a, b'],
  ['zzz', [], 'there are none'],
])('for %j among %j it says: %s', (word, known, hint) => {
  expect(suggest(word, known)).toBe(hint)
})

test.each([
  [[], ''],
  [['agents'], 'agents'],
  [['agents', 'coder', 'args', 0], 'agents.coder.args[0]'],
  [['routes', 2, 'when', 'front'], 'routes[2].when.front'],
  [[0, 'a'], '[0].a'],
])('the path %j is written %s', (path, text) => {
  expect(formatPath(path)).toBe(text)
})

test.each([
  [{ line: 0, column: 0, path: '' }, 'f.yaml: wrong'],
  [{ line: 3, column: 7, path: '' }, 'f.yaml:3:7: wrong'],
  [{ line: 3, column: 7, path: 'a.b' }, 'f.yaml:3:7 a.b: wrong'],
  [{ line: 3, column: 7, path: 'a.b', hint: 'do this' }, 'f.yaml:3:7 a.b: wrong; do this'],
])('the problem %j is one line', (place, line) => {
  expect(formatProblem({ file: 'f.yaml', message: 'wrong', ...place })).toBe(line)
})

describe('a value at a path', () => {
  const VALUES = { list: [{ a: 1 }, { a: 2 }], table: { x: { y: null } }, text: 'abc' }

  test.each<[(string | number)[], unknown]>([
    [[], VALUES],
    [['list', 1, 'a'], 2],
    [['list', 9, 'a'], undefined],
    [['table', 'x', 'y'], null],
    [['table', 'x', 'y', 'z'], undefined],
    [['nothing', 'at', 'all'], undefined],
  ])('%j is read', (path, value) => {
    expect(valueAt(VALUES, path)).toEqual(value)
  })

  test('is replaced in a copy', () => {
    const before = structuredClone(VALUES)
    expect(withValue(VALUES, ['list', 1, 'a'], 'new')).toEqual({ ...VALUES, list: [{ a: 1 }, { a: 'new' }] })
    expect(withValue(VALUES, ['table', 'x'], 5)).toEqual({ ...VALUES, table: { x: 5 } })
    expect(withValue(VALUES, [], 7)).toBe(7)
    expect(VALUES).toEqual(before)
  })

  test('is what was put there, and nothing else changes', () => {
    const path = fc.constantFrom<(string | number)[]>(['list', 0, 'a'], ['list', 1], ['table', 'x', 'y'], ['text'])
    fc.assert(
      fc.property(path, path, fc.jsonValue(), (one, other, value) => {
        const changed = withValue(VALUES, one, value)
        expect(valueAt(changed, one)).toEqual(value)
        if (one[0] !== other[0]) expect(valueAt(changed, other)).toEqual(valueAt(VALUES, other))
      }),
    )
  })
})
