import { expect, test } from 'vitest'
import type { LastTurn } from '../../src/contract/index.ts'
import { Absence, type Return } from '../../src/engine/session/absence.ts'
import { plainTurn } from '../kit/plain.ts'

const turn = (name: string, ended = true): LastTurn => ({ turn: name, owner: 'there', ended })
const BACK: Return = {
  record: { id: 'kept', tenant: 'local', agent: 'a', session: 's', conversation: '', createdAt: 1, usedAt: 1 },
  heard: {},
}

/** An absence whose end is in the hands of the test. */
function absence() {
  const ends: ((back: Return | undefined) => void)[] = []
  const over = (): Promise<Return | undefined> =>
    new Promise((resolve) => {
      ends.push(resolve)
    })
  return { absence: new Absence({ have: () => true, over }), ends }
}

test('lasts from a turn of another process until a turn here has waited for it', async () => {
  const { absence: away, ends } = absence()
  expect([away.lasts, away.turns]).toEqual([false, 0])
  away.note(turn('a', false))
  expect([away.lasts, away.turns]).toEqual([true, 1])
  away.note(turn('a'))
  expect([away.lasts, away.turns]).toEqual([true, 0])
  const ended = away.end(plainTurn().turn)
  ends[0]!(BACK)
  expect(await ended).toBe(BACK)
  expect(away.lasts).toBe(false)
  away.note(turn('a'))
  expect(away.lasts).toBe(false)
  away.note(turn('b'))
  expect(away.lasts).toBe(true)
})

test('goes on when the session has left again meanwhile, or when the turn that waits has its end', async () => {
  const { absence: away, ends } = absence()
  away.note(turn('a'))
  const ended = away.end(plainTurn().turn)
  away.note(turn('b', false))
  ends[0]!(BACK)
  expect(await ended).toBe(BACK)
  expect([away.lasts, away.turns]).toEqual([true, 1])
  const cancelled = away.end(plainTurn().turn)
  ends[1]!(undefined)
  expect(await cancelled).toBeUndefined()
  expect(away.lasts).toBe(true)
})
