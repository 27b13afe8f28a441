import { expect, test } from 'vitest'
import { Access } from '../../../codecs/zot/front/access.ts'

test('without a token everybody may command, and any hello is right', () => {
  const access = new Access('')
  expect([access.granted, access.grant(undefined), access.grant('x'), access.granted]).toEqual([true, true, true, true])
})

test('with a token a client may command once it has brought it, and a wrong one later is still refused', () => {
  const access = new Access('word')
  expect([access.granted, access.grant(undefined), access.grant('Word'), access.granted]).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect([access.grant('word'), access.granted, access.grant('other'), access.granted]).toEqual([
    true,
    true,
    false,
    true,
  ])
})
