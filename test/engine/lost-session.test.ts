import { expect, test } from 'vitest'
import { placeOf } from '../../src/engine/common/index.ts'
import { changeOf } from '../../src/engine/session/lost-session.ts'
import { plainAgent } from '../kit/plain.ts'

const agent = plainAgent('', { protocol: 'zot' })

test.each([
  [undefined, undefined],
  [{}, undefined],
  [placeOf(agent), undefined],
  [{ back: 'zot' }, undefined],
  [{ back: 'acp' }, 'back'],
  [{ ...placeOf(agent), back: 'acp' }, 'back'],
  [{ back: 'zot', place: 'elsewhere' }, 'place'],
] as const)('after %j an agent of zot has another: %s', (heard, change) => {
  expect(changeOf(heard, agent)).toBe(change)
})
