import { expect, test } from 'vitest'
import { matchesTurn, type TurnConditions } from '../../src/engine/session/turn-filter.ts'
import type { TurnInfoReply } from '../../src/model/index.ts'

const TURN: TurnInfoReply = {
  turn: 'T-1',
  state: 'failed',
  agent: 'coder',
  front: 'zene',
  back: 'zot',
  session: 's',
  request: 'Req',
  startedAt: 1,
  error: 'It Fell.',
  key: 'ann',
}

test.each<[TurnConditions, boolean]>([
  [{}, true],
  [{ agent: 'coder', front: 'zene', back: 'zot', state: 'failed', key: 'ann', session: 's', q: 'fell' }, true],
  [{ session: 'kept' }, true],
  [{ session: 'other' }, false],
  [{ agent: 'writer' }, false],
  [{ front: 'zot' }, false],
  [{ back: 'zene' }, false],
  [{ state: 'completed' }, false],
  [{ key: 'bob' }, false],
  [{ q: 't-1' }, true],
  [{ q: 'REQ' }, true],
  [{ q: 'coder' }, false],
])('a turn is asked for by %j: %s', (conditions, is) => {
  expect(matchesTurn(TURN, 'kept', conditions)).toBe(is)
})

test('what is not known of a turn matches no condition on it', () => {
  const { back: _back, request: _request, error: _error, key: _key, ...less } = TURN
  expect(matchesTurn(less, 'kept', { q: 'undefined' })).toBe(false)
  expect(matchesTurn(less, 'kept', { back: 'zot' })).toBe(false)
  expect(matchesTurn(less, 'kept', { key: 'local' })).toBe(false)
})
