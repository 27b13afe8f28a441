import { expect, test } from 'vitest'
import { digestOf, randomId } from '../../src/engine/common/startup.ts'

test('the digest of a text is its SHA-256', () => {
  expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('random ids have their length, and differ', () => {
  const ids = [randomId(18), randomId(18)]
  expect(ids.map((id) => /^[\w-]{24}$/.test(id))).toEqual([true, true])
  expect(ids[0]).not.toBe(ids[1])
})
