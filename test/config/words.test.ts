import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/config/nearest.ts'
import { globMatches } from '../../src/model/index.ts'

describe('nearest', () => {
  const known = ['command', 'args', 'cwd', 'env', 'headers']

  it.each([
    ['comand', 'command'],
    ['ocmmand', 'command'],
    ['COMMAND', 'command'],
    ['arg', 'args'],
    ['cdw', 'cwd'],
    ['evn', 'env'],
    ['header', 'headers'],
    ['headrs', 'headers'],
    ['xyz', undefined],
    ['cmd', 'cwd'],
    ['telephone', undefined],
    ['', undefined],
  ])('of %j is %j', (word, expected) => expect(nearest(word, known)).toBe(expected))

  it('is the word itself when it is known', () => {
    fc.assert(fc.property(fc.constantFrom(...known), (word) => nearest(word, known) === word))
  })
})

describe('globMatches', () => {
  it.each([
    ['a', 'a', true],
    ['a', 'ab', false],
    ['*', '', true],
    ['qq_*', 'qq_12', true],
    ['qq_*', 'qq', false],
    ['*_x', 'a_x', true],
    ['a*b*c', 'a--b--c', true],
    ['a*b*c', 'a--c--b', false],
    ['ab*ba', 'aba', false],
    ['a*a*a', 'aa', false],
    ['a**b', 'ab', true],
    ['a.c', 'abc', false],
    ['', '', true],
  ])('%j takes %j: %s', (glob, text, expected) => expect(globMatches(glob, text)).toBe(expected))

  it('agrees with the pattern of the same meaning', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), (glob, text) => {
        return globMatches(glob, text) === new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(text)
      }),
    )
  })
})
