import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileGlob, globMatches } from '../../src/model/index.ts'

/** The same as a regular expression, which may take exponential time. */
function oracle(glob: string): RegExp {
  return new RegExp(`^${glob.replace(/[\\^$.+?()[\]{}|/-]/g, '\\$&').replaceAll('*', '[^]*')}$`)
}

const unit = fc.constantFrom('a', 'b', '*', '.', '[', '\n')
const word = fc.string({ unit, maxLength: 8 })

test('a text matches as it would match a regular expression', () => {
  fc.assert(
    fc.property(word, word, (glob, text) => {
      expect(globMatches(glob, text)).toBe(oracle(glob).test(text))
    }),
    { numRuns: 1000 },
  )
})

test('a compiled glob may be used again', () => {
  const glob = compileGlob('a*b*')
  expect(['ab', 'a-b-', 'ba', 'a'].map(glob)).toEqual([true, true, false, false])
  expect(['ab', 'a-b-', 'ba', 'a'].map(glob)).toEqual([true, true, false, false])
})

test.each([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['**', 'a', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*a', 'aba', true],
  ['a*ba*a', 'aba', false],
  ['*.example.org', 'api.example.org', true],
  ['*.example.org', 'example.org', false],
  ['gpt-*', 'gpt-5', true],
  ['gpt-*', 'GPT-5', false],
])('%j matches %j: %s', (glob, text, matches) => {
  expect(globMatches(glob, text)).toBe(matches)
})

test('many stars on a long text are no burden', () => {
  const glob = compileGlob(`${'*a'.repeat(200)}*b`)
  expect(glob('a'.repeat(100_000))).toBe(false)
  expect(glob(`${'a'.repeat(100_000)}b`)).toBe(true)
})
