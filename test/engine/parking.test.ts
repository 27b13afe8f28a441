import { expect, test } from 'vitest'
import { Parking } from '../../src/engine/turn/parking.ts'
import type { Ask } from '../../src/model/index.ts'
import { plainTurn } from '../kit/plain.ts'

const asked = (id: string, deadline: number): [string, { ask: Ask }] => [
  id,
  { ask: { ask: id, question: { kind: 'input', message: 'm' }, deadline } },
]

test('a turn is parked once for all that is asked in one step, until the earliest deadline', async () => {
  const { turn, host } = plainTurn()
  const open = new Map([asked('a', 9)])
  const parking = new Parking(turn, open)
  parking.begin()
  expect([parking.on, parking.current]).toEqual([false, undefined])
  open.set(...asked('b', 7))
  parking.begin()
  await Promise.resolve()
  const [event, ...more] = host.events
  expect(more).toEqual([])
  expect(event).toMatchObject({ type: 'turn-parked', asks: [{ ask: 'a' }, { ask: 'b' }], deadline: 7 })
  expect(parking.current).toMatchObject({ seq: 1, asks: [{ ask: 'a' }, { ask: 'b' }] })
  expect(parking.current?.continuation).toMatch(/^t\.[\w-]{24}$/)
})

test('a turn that is parked again has another token; one that goes on has none', async () => {
  const { turn } = plainTurn()
  const parking = new Parking(turn, new Map([asked('a', 9)]))
  parking.begin()
  await Promise.resolve()
  const first = parking.current?.continuation
  parking.begin()
  await Promise.resolve()
  expect(parking.current?.continuation).not.toBe(first)
  parking.end()
  expect([parking.on, parking.current]).toEqual([false, undefined])
})

test('a turn whose questions are answered in the same step is not parked', async () => {
  const { turn, host } = plainTurn()
  const open = new Map([asked('a', 9)])
  const parking = new Parking(turn, open)
  parking.begin()
  open.clear()
  await Promise.resolve()
  expect([parking.on, host.events]).toEqual([false, []])
})
