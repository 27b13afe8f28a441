import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Answer, capabilities } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { LiveView } from '../../src/engine/events/view.ts'
import { Audience, MOST_FOLLOWERS } from '../../src/engine/turn/audience.ts'
import { type Command, type EventOf, ITEMS, type TurnEvent } from '../../src/model/index.ts'
import { ANSWER, PlainHost, start } from '../kit/plain.ts'

const view = (): LiveView => new LiveView({ turn: 't', session: 's', agent: 'a', at: 0 })
const exchange = (host: PlainHost, answer: Partial<Answer> = {}, command: Command = start()): Exchange =>
  new Exchange(command, { ...ANSWER, ...answer }, host)
const follow: Command = { exchange: 'f', type: 'turn-follow', target: { turn: 't' } }
const open: TurnEvent = { type: 'message-start', turn: 't', message: 'm', role: 'assistant' }
const text = (said: string): TurnEvent => ({ type: 'text-delta', turn: 't', message: 'm', text: said })
const ask: EventOf<'ask'> = {
  type: 'ask',
  turn: 't',
  ask: 'q',
  question: { kind: 'client', method: 'm', params: '{}' },
}

/** An audience whose first exchange shares the turn's view. */
function turn() {
  const audience = new Audience()
  const host = new PlainHost()
  const own = view()
  const first = exchange(host)
  audience.add(first, own)
  const happens = (event: TurnEvent): void => {
    own.apply(event, 1)
    audience.deliver(event, own, 1)
  }
  return { audience, host, own, first, happens }
}

const many = (length: number, answer: Partial<Answer> = {}): Exchange[] =>
  Array.from({ length }, () => exchange(new PlainHost(), answer, follow))

test('is full with so many who follow, and has room when some are over', () => {
  const { audience } = turn()
  const others = many(MOST_FOLLOWERS - 2)
  for (const one of others) audience.add(one, view())
  expect(audience.full).toBe(false)
  audience.addLate(many(1)[0]!, view(), () => 1)
  expect(audience.full).toBe(true)
  others[0]!.drop()
  expect(audience.full).toBe(false)
})

test('who is answered at once and asked by its next request keeps its place, and no fold goes on for who is over', () => {
  const { audience, happens } = turn()
  const later = exchange(new PlainHost(), { form: 'accepted', asks: 'next-request' }, start())
  audience.add(later, view())
  const [over] = many(1)
  const fold = view()
  audience.add(over!, fold)
  happens(open)
  over!.drop()
  later.drop()
  happens(text('a'))
  expect(fold.seq).toBe(1)
  for (const one of many(MOST_FOLLOWERS)) {
    audience.add(one, view())
    one.drop()
  }
  expect([audience.full, audience.canAnswerLater(ask)]).toEqual([false, true])
})

test('everybody is shown an event once, in a view of their own', () => {
  const { audience, happens, host, own } = turn()
  happens(open)
  happens(text('a'))
  const other = new PlainHost()
  const later = view()
  later.continue(own)
  audience.add(exchange(other, {}, follow), later)
  happens(text('b'))
  expect([host.types, other.types]).toEqual([['message-start', 'text-delta', 'text-delta'], ['text-delta']])
  expect([own.text, later.text, later.seq]).toEqual(['ab', 'b', 3])
})

test('law: who comes late sees what was recorded and what happens meanwhile, each event once and in order', () => {
  fc.assert(
    fc.property(fc.nat(6), fc.nat(6), fc.nat(12), (before, meanwhile, recorded) => {
      const { audience, happens } = turn()
      const all = [open, ...Array.from({ length: before + meanwhile }, (_, n) => text(`${n}`))]
      for (const event of all.slice(0, before + 1)) happens(event)
      const host = new PlainHost()
      const late = view()
      const catchUp = audience.addLate(exchange(host, {}, follow), late, () => 2)
      for (const event of all.slice(before + 1)) happens(event)
      expect(host.events).toEqual([])
      const written = Math.min(all.length, before + 1 + recorded)
      catchUp(all.slice(0, written).map((event, at) => ({ seq: at + 1, event })))
      expect(host.events).toEqual(all)
      happens(text('end'))
      expect(host.events).toEqual([...all, text('end')])
      expect(late.seq).toBe(all.length + 1)
    }),
  )
})

test('who has left is shown nothing more', () => {
  const { audience, happens, host, first } = turn()
  audience.remove(first)
  happens(open)
  expect([host.events, audience.deserted]).toEqual([[], true])
})

test('it is deserted when every exchange has its end, and clogged when one that has none is', () => {
  const { audience, host, first } = turn()
  const slow = new PlainHost()
  const second = exchange(slow)
  audience.add(second, view())
  expect([audience.deserted, audience.clogged]).toEqual([false, false])
  slow.client.clogged = true
  expect(audience.clogged).toBe(true)
  second.drop()
  expect([audience.deserted, audience.clogged]).toEqual([false, false])
  first.drop()
  expect([audience.deserted, host.over]).toEqual([true, [first]])
})

describe('a turn goes on when an exchange leaves', () => {
  test.each<[boolean, Partial<Answer>, Partial<Answer>, Command, Answer['onDisconnect'] | undefined]>([
    [false, {}, {}, start(), undefined],
    [true, {}, { onDisconnect: 'drain' }, start(), undefined],
    [true, { onDisconnect: 'drain' }, {}, start(), undefined],
    [true, {}, {}, start(), 'drain'],
    [false, { onDisconnect: 'drain' }, { onDisconnect: 'drain' }, start(), 'cancel'],
    [true, {}, {}, follow, 'cancel'],
    [true, { form: 'accepted' }, {}, start(), 'cancel'],
  ])('%s: the first is %j, the one that leaves %j', (outlived, of, leaving, command, policy) => {
    const audience = new Audience()
    const first = exchange(new PlainHost(), of)
    audience.add(first, view())
    const second = exchange(new PlainHost(), leaving, command)
    audience.add(second, view())
    expect(audience.first).toBe(first)
    expect(audience.isOutlived(second, policy)).toBe(outlived)
  })
})

describe('a question', () => {
  const closedInput = (): PlainHost => {
    const host = new PlainHost()
    host.client.inputClosed = true
    return host
  }
  const able = (...not: string[]) => capabilities({ full: ITEMS.filter((item) => !not.includes(item)) })

  test.each<[string, PlainHost, Partial<Answer>, boolean, boolean]>([
    ['is answered inline', new PlainHost(), { asks: 'inline' }, true, false],
    ['is answered by the next request', new PlainHost(), { asks: 'next-request' }, false, true],
    ['is answered by nobody', new PlainHost(), { asks: 'never' }, false, false],
    ['is shown to nobody who has no place for it', new PlainHost(able('ask')), { asks: 'inline' }, false, false],
    ['is shown to nobody without its kind', new PlainHost(able('ask.client')), { asks: 'next-request' }, false, false],
    ['is answered by a link that needs no client', closedInput(), { asks: 'always' }, true, false],
    ['is answered by nobody whose input has ended', closedInput(), { asks: 'inline' }, false, false],
  ])('%s', (_how, host, answer, now, later) => {
    const audience = new Audience()
    audience.add(exchange(host, answer), view())
    expect([audience.canBeAsked(ask), audience.canAnswerLater(ask)]).toEqual([now, later])
  })

  test('waits for a follower where the request of the turn says so, also when its client is gone', () => {
    const audience = new Audience()
    const host = new PlainHost(able('ask'))
    host.client.leavesAsks = true
    const first = exchange(host, { asks: 'next-request' })
    audience.add(first, view())
    expect([audience.canBeAsked(ask), audience.canAnswerLater(ask)]).toEqual([true, false])
    first.drop()
    expect(audience.canBeAsked(ask)).toBe(true)
  })

  test('of a turn that was accepted can be answered later than its exchange', () => {
    const audience = new Audience()
    const gone = exchange(new PlainHost(), { asks: 'next-request', form: 'accepted' })
    audience.add(gone, view())
    gone.drop()
    expect(audience.canAnswerLater(ask)).toBe(true)
  })
})

test('every answer names the agent that took over', () => {
  const { audience, own } = turn()
  const other = view()
  audience.add(exchange(new PlainHost()), other)
  audience.moved('b')
  expect([own.agent, other.agent]).toEqual(['b', 'b'])
})

test('what no turn owns is told to those who still listen', () => {
  const { audience, host, first } = turn()
  const event = { turn: null, type: 'agent-ready' } as const
  audience.tell(event)
  first.drop()
  audience.tell(event)
  expect(host.replies).toEqual([event])
})

test('nobody gets an end that the record refuses, whoever has joined', () => {
  const { audience, host } = turn()
  const other = new PlainHost()
  audience.add(exchange(other, {}, follow), view())
  expect([host.client.refused, other.client.refused]).toEqual([false, false])
  audience.cut()
  expect([host.client.refused, other.client.refused]).toEqual([true, true])
})
