import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasFlag, withDefaultFlags } from '../../src/codec-kit/index.ts'

const DEFAULTS = [{ add: ['--format', 'json'], unless: ['-f'] }, { add: ['--quiet'] }] as const

test('a flag is found alone and with its value, and not within another word', () => {
  expect(hasFlag(['--format', 'json'], ['--format'])).toBe(true)
  expect(hasFlag(['--format=json'], ['-f', '--format'])).toBe(true)
  expect(hasFlag(['--formatted', 'x--format', 'format'], ['--format'])).toBe(false)
  expect(hasFlag([], ['--format'])).toBe(false)
})

test('defaults follow the configured arguments, except those that are configured', () => {
  expect(withDefaultFlags([], DEFAULTS)).toEqual(['--format', 'json', '--quiet'])
  expect(withDefaultFlags(['-f', 'text'], DEFAULTS)).toEqual(['-f', 'text', '--quiet'])
  expect(withDefaultFlags(['--quiet', '--format=text'], DEFAULTS)).toEqual(['--quiet', '--format=text'])
})

test('configured arguments stay as they are, and every default is there once', () => {
  const word = fc.constantFrom('--format', '-f', '--quiet', '--format=text', 'text', '--other', '')
  fc.assert(
    fc.property(fc.array(word), (configured) => {
      const args = withDefaultFlags(configured, DEFAULTS)
      expect(args.slice(0, configured.length)).toEqual(configured)
      expect(hasFlag(args, ['--format', '-f'])).toBe(true)
      expect(hasFlag(args, ['--quiet'])).toBe(true)
      expect(withDefaultFlags(args, DEFAULTS)).toEqual(args)
    }),
  )
})
