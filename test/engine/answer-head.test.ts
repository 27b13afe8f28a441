import { expect, test } from 'vitest'
import type { Answer, Framing } from '../../src/contract/index.ts'
import { answerHead, lossTrailers } from '../../src/engine/client/answer-head.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { fault, LossLedger } from '../../src/model/index.ts'
import { ANSWER, PlainHost, start } from '../kit/plain.ts'

const exchange = (answer: Partial<Answer> = {}): Exchange =>
  new Exchange(start(), { ...ANSWER, ...answer }, new PlainHost())
const loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 2 } as const

test.each<[Framing, string]>([
  ['body', 'application/json; charset=utf-8'],
  ['ndjson', 'application/x-ndjson; charset=utf-8'],
  ['sse', 'text/event-stream; charset=utf-8'],
  ['text', 'text/plain; charset=utf-8'],
])('an answer framed as %s has the type %s, and nothing else without an exchange', (framing, type) => {
  expect(answerHead(framing, undefined)).toEqual({ 'content-type': type })
})

test('an exchange without a turn has the headers of its answer alone', () => {
  const of = exchange({ headers: { 'x-own': '1' } })
  of.lost(loss)
  expect(answerHead('text', of)).toEqual({ 'content-type': 'text/plain; charset=utf-8', 'x-own': '1' })
})

test('a turn is named with its agent and what was lost so far; the front may say otherwise', () => {
  const of = exchange({ headers: { 'turnpike-agent': 'own' } })
  of.turn = { id: 't', agent: { name: 'a' }, losses: new LossLedger() } as never
  of.lost(loss)
  expect(answerHead('text', of)).toEqual({
    'content-type': 'text/plain; charset=utf-8',
    'turnpike-turn': 't',
    'turnpike-agent': 'own',
    'turnpike-loss': 'dropped=2',
  })
})

test('a replay names the recorded turn, its agent and the losses towards it', () => {
  const of = exchange()
  of.past = {
    turn: 'old',
    agent: 'b',
    losses: [
      { ...loss, side: 'agent' },
      { ...loss, side: 'client' },
    ],
  }
  of.replays = true
  expect(answerHead('text', of)).toEqual({
    'content-type': 'text/plain; charset=utf-8',
    'turnpike-turn': 'old',
    'turnpike-agent': 'b',
    'idempotent-replayed': 'true',
    'turnpike-loss': 'dropped=2',
  })
})

test('a failure says how long to wait, in whole seconds', () => {
  const failure = fault('provider-rate-limit', 'slow down', { retryAfterMs: 1200 })
  expect(answerHead('body', undefined, failure)['retry-after']).toBe('2')
  expect(answerHead('body', undefined, fault('provider-rate-limit', 'slow down'))['retry-after']).toBeUndefined()
})

test('trailers are the losses, if there are any', () => {
  const of = exchange()
  expect([lossTrailers(undefined), lossTrailers(of)]).toEqual([undefined, undefined])
  of.lost(loss)
  expect(lossTrailers(of)).toEqual({ 'turnpike-loss': 'dropped=2' })
})
