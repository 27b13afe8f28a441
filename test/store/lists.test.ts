import { expect, test } from 'vitest'
import { pageOf } from '../../src/store/lists.ts'

test('a page has what was found twice once, as it was found last', () => {
  const row = (id: string, at: number, state: string) => ({ id, at, state })
  const running = { rows: [row('a', 3, 'runs'), row('b', 2, 'runs')] }
  const ended = { rows: [row('b', 2, 'ended'), row('c', 1, 'ended')] }
  const placeOf = ({ id, at }: ReturnType<typeof row>) => ({ id, at })
  expect(pageOf([running, ended], 3, placeOf)).toEqual({
    rows: [row('a', 3, 'runs'), row('b', 2, 'ended'), row('c', 1, 'ended')],
  })
  expect(pageOf([running, ended], 2, placeOf)).toEqual({ rows: [row('a', 3, 'runs'), row('b', 2, 'ended')], next: 'b' })
})
