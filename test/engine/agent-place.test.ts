import { expect, test } from 'vitest'
import { placeOf } from '../../src/engine/common/agent-place.ts'
import { plainAgent } from '../kit/plain.ts'

test('an agent is known by its protocol and its command or URL, whatever else is configured', () => {
  const target = { kind: 'process', command: '/bin/agent' } as const
  const agent = plainAgent('', { protocol: 'zot', target })
  expect(placeOf(agent)).toEqual({ back: 'zot', place: expect.stringMatching(/^[0-9a-f]{16}$/) })
  expect(placeOf(agent)).toBe(placeOf(agent))
  expect(placeOf(plainAgent('', { protocol: 'zot', target, name: 'other', restore: 'replay' }))).toEqual(placeOf(agent))
  const elsewhere = plainAgent('', { protocol: 'zot', target: { kind: 'http', url: 'http://agent' } })
  expect(placeOf(elsewhere).place).not.toBe(placeOf(agent).place)
})
