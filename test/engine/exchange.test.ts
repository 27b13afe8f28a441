import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { acceptedTurn } from '../../src/engine/events/turn-events.ts'
import { LiveView } from '../../src/engine/events/view.ts'
import { type Command, fault, LossLedger, type TurnEvent } from '../../src/model/index.ts'
import { ANSWER, PlainHost, start } from '../kit/plain.ts'

const view = new LiveView({ turn: 't', session: 's', agent: 'a', at: 0 })
const follow: Command = { exchange: 'x', type: 'turn-follow', target: { turn: 't' } }
const END: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed' }
const SETTLED: TurnEvent = { type: 'ask-settled', turn: 't', ask: 'q', how: 'answered' }
const REPLY: Command = {
  exchange: 'x',
  type: 'ask-reply',
  target: { continuation: 't.1' },
  reply: { kind: 'tool', status: 'ok', parts: [] },
}
const PARKED: TurnEvent = { type: 'turn-parked', turn: 't', asks: [], continuation: 't.1', deadline: 9 }
const TEXT: TurnEvent = { type: 'text-delta', turn: 't', message: 'm', text: 'x' }

function exchanged(answer: Partial<Answer> = {}, command: Command = start()) {
  const host = new PlainHost()
  return { host, exchange: new Exchange(command, { ...ANSWER, ...answer }, host) }
}

describe('the last event of an exchange', () => {
  test.each<[boolean, TurnEvent, Partial<Answer>, Command]>([
    [true, END, {}, start()],
    [true, END, {}, follow],
    [false, TEXT, {}, start()],
    [true, PARKED, { asks: 'next-request' }, start()],
    [false, PARKED, { asks: 'next-request' }, follow],
    [false, PARKED, { asks: 'inline' }, start()],
    [true, acceptedTurn('t', 'new', 's', undefined), { form: 'accepted' }, start()],
    [false, acceptedTurn('t', 'new', 's', undefined), { form: 'accepted' }, follow],
    [false, acceptedTurn('t', 'joined', 's', undefined), {}, start()],
    [true, SETTLED, { form: 'accepted' }, REPLY],
    [false, SETTLED, {}, REPLY],
    [false, TEXT, { form: 'accepted' }, start()],
  ])('%s: %j of an answer %j', (last, event, answer, command) => {
    const { exchange, host } = exchanged(answer, command)
    exchange.deliver(event, view)
    expect([exchange.ended, host.over.length, host.events]).toEqual([last, last ? 1 : 0, [event]])
  })

  test('is the acceptance for a duplicate that only wants to be told', () => {
    const { exchange } = exchanged()
    exchange.endsWhenJoined = true
    exchange.deliver(acceptedTurn('t', 'joined', 's', undefined), view)
    expect(exchange.ended).toBe(true)
  })
})

test('law: whatever happens to an exchange, it ends once, and nothing is encoded for it afterwards', () => {
  const steps: Record<string, (exchange: Exchange) => void> = {
    text: (exchange) => exchange.deliver(TEXT, view),
    end: (exchange) => exchange.deliver(END, view),
    fail: (exchange) => exchange.fail(fault('internal', 'x')),
    reply: (exchange) => exchange.reply({ data: '1' }),
    drop: (exchange) => exchange.drop(),
    cancel: (exchange) => void exchange.cancel(),
  }
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 10 }), (names) => {
      const { exchange, host } = exchanged()
      let said: number | undefined
      for (const name of names) {
        steps[name]!(exchange)
        const now = host.events.length + host.faults.length + host.replies.length
        if (said !== undefined) expect(now).toBe(said)
        if (exchange.ended) said = now
      }
      expect(host.over.length).toBe(exchange.ended ? 1 : 0)
    }),
  )
})

describe('a cancel', () => {
  test('before there is a turn holds for the turn that comes', () => {
    const { exchange } = exchanged()
    expect([exchange.unwanted, exchange.settleCancel(), exchange.cancel(), exchange.unwanted]).toEqual([
      false,
      false,
      true,
      true,
    ])
    let cancels = 0
    exchange.turn = {
      cancel() {
        cancels += 1
        return true
      },
    } as never
    expect([exchange.unwanted, exchange.settleCancel(), cancels]).toEqual([false, true, 1])
  })

  test('of an exchange that has its end does nothing', () => {
    const { exchange } = exchanged()
    exchange.drop()
    expect([exchange.cancel(), exchange.unwanted]).toEqual([false, true])
  })

  test.each<[Command, boolean]>([
    [start(), false],
    [follow, true],
    [{ exchange: 'x', type: 'query', what: 'turns' }, true],
    [{ exchange: 'x', type: 'query', what: 'models' }, false],
  ])('of %j when its client stops ends it at once: %s', (command, ended) => {
    const { exchange } = exchanged({}, command)
    exchange.stop()
    expect(exchange.ended).toBe(ended)
  })
})

test.each<[Answer['asks'], boolean, boolean]>([
  ['inline', false, true],
  ['inline', true, false],
  ['always', true, true],
  ['next-request', false, false],
  ['never', false, false],
])('a client that answers %s, its input ended: %s, can be asked: %s', (asks, inputClosed, asked) => {
  const { exchange, host } = exchanged({ asks })
  host.client.inputClosed = inputClosed
  expect(exchange.asksInline).toBe(asked)
})

test('a client that leaves questions to others is shown none, and everything else', () => {
  const { exchange, host } = exchanged()
  host.client.leavesAsks = true
  const question = { kind: 'tool', tool: 't1' } as const
  exchange.deliver({ type: 'ask', turn: 't', ask: 'a', question }, view)
  exchange.deliver({ type: 'ask-settled', turn: 't', ask: 'a', how: 'answered' }, view)
  exchange.deliver({ type: 'turn-started', turn: 't' }, view)
  expect(host.events).toEqual([{ type: 'turn-started', turn: 't' }])
  expect(exchange.losses).toEqual([])
})

test('its losses are those of its turn and its own, equal ones counted together', () => {
  const { exchange } = exchanged()
  const loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 1 } as const
  const losses = new LossLedger()
  const told: unknown[] = []
  exchange.turn = { losses } as never
  exchange.onLoss = (...lost) => told.push(lost)
  exchange.lost(loss)
  losses.add(loss)
  expect([exchange.losses, exchange.ownLosses, told]).toEqual([[{ ...loss, count: 2 }], [loss], [[loss, 'response']]])
  losses.clear()
  expect(exchange.losses).toEqual([loss])
})

test('a reply has what it was given, under its exchange', () => {
  const { exchange, host } = exchanged()
  exchange.reply({ data: '1', ext: { protocol: 'zot', json: '{}' } })
  expect(host.replies).toEqual([
    { turn: null, type: 'command-reply', exchange: 'x', data: '1', ext: { protocol: 'zot', json: '{}' } },
  ])
})
