import { expect, test } from 'vitest'
import { ClientTap } from '../../src/engine/client/client-tap.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { Tape } from '../../src/engine/common/tape.ts'
import { ANSWER, PlainHost, start } from '../kit/plain.ts'

const newTape = (): Tape =>
  new Tape(
    () => 0,
    (text) => text,
  )
const newExchange = (): Exchange => new Exchange(start(), ANSWER, new PlainHost())
const textsOf = (tape: Tape): string[] => tape.wire((text) => text).client.map(({ dir, text }) => `${dir} ${text}`)

test('the tape of a turn begins with what was read since the turn before', () => {
  const tap = new ClientTap('POST /v1/turns')
  tap.received('{"input":"one"}')
  const [first, second] = [newTape(), newTape()]
  const one = newExchange()
  tap.record(one, first)
  tap.sent('answer\n', one)
  tap.sent('to somebody else\n', newExchange())
  tap.sent('to nobody\n', undefined)
  one.ended = true
  tap.received({ data: 'two' })
  tap.record(newExchange(), second)
  expect(textsOf(first)).toEqual(['in POST /v1/turns', 'in {"input":"one"}', 'out answer'])
  expect(textsOf(second)).toEqual(['in two'])
})

test('what is read while turns run goes to their tapes too', () => {
  const tap = new ClientTap('[]')
  const tape = newTape()
  tap.record(newExchange(), tape)
  tap.received('an answer')
  expect(textsOf(tape)).toEqual(['in []', 'in an answer'])
})

test('what waits for a turn is bounded', () => {
  const tap = new ClientTap('[]')
  for (let at = 0; at < 10; at++) tap.received(`${at}${'x'.repeat(50_000)}`)
  const tape = newTape()
  tap.record(newExchange(), tape)
  expect(textsOf(tape).map((text) => text.slice(0, 4))).toEqual(['in 8', 'in 9'])
})
