import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import { type Scope, Watches } from '../../src/engine/session/watch.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import type { Command, LinkEvent, TurnsArgs } from '../../src/model/index.ts'
import { ANSWER, PlainHost, plainTurn, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const QUERY: Command = { exchange: 'x', type: 'query', what: 'turns' }

/** Live turns, those who follow them, and what each client was told: the ids of turns, reply by reply. */
function watched() {
  const turns = new LiveTurns()
  const watches = new Watches(turns)
  const follow = (scope: Scope = { tenant: 'local' }, args: TurnsArgs = {}) => {
    const host = new PlainHost()
    const exchange = new Exchange(QUERY, ANSWER, host)
    const refused = watches.add(exchange, scope, args)
    return { host, exchange, refused, told: () => host.replies.map(idsOf) }
  }
  const run = (id: string, tenant = 'local', more: Parameters<typeof start>[0] = {}): Turn => {
    const record = { id: 'kept', tenant, agent: 'plain', session: 's', conversation: '', createdAt: 1, usedAt: 1 }
    const { turn } = plainTurn({ command: start({ turn: id, request: `r-${id}`, ...more }), session: { record } })
    turns.add(turn)
    return turn
  }
  return { turns, watches, follow, run }
}

function idsOf(event: LinkEvent): string[] | string {
  if (event.type !== 'command-reply') return event.type
  if (!event.more) return 'end'
  return (JSON.parse(event.data!) as { turns: { turn: string }[] }).turns.map(({ turn }) => turn)
}

test('who follows is told of the turns that run, then of each that gets further, of its tenant alone', () => {
  const { watches, follow, run } = watched()
  const [first, other] = [run('a'), run('b', 'other')]
  const { told, refused } = follow()
  watches.changed(first)
  watches.changed(other)
  expect([refused, told()]).toEqual([undefined, [['a'], ['a']]])
})

test('a client that does not keep up is told the newest state of each turn once it does', () => {
  const { watches, follow, run } = watched()
  const { host, told } = follow()
  const [first, second] = [run('a'), run('b')]
  host.client.clogged = true
  for (const turn of [first, second, first]) watches.changed(turn)
  vi.advanceTimersByTime(300)
  expect(told()).toEqual([[]])
  host.client.clogged = false
  vi.advanceTimersByTime(100)
  expect(told()).toEqual([[], ['b', 'a']])
  expect(vi.getTimerCount()).toBe(2)
})

test('a client that has left is told nothing, and makes room for another', () => {
  const { watches, follow, run } = watched()
  const all = Array.from({ length: 64 }, () => follow())
  expect(all.every(({ refused }) => refused === undefined)).toBe(true)
  expect(follow().refused).toMatchObject({
    code: 'overloaded',
    message: '64 clients follow the turns already; end one of them.',
  })
  all[0]!.exchange.drop()
  expect(follow().refused).toBeUndefined()
  watches.changed(run('a'))
  expect([all[0]!.told(), all[1]!.told()]).toEqual([[[]], [[], ['a']]])
})

test('a gateway that stops ends what its clients follow', () => {
  const { watches, follow } = watched()
  const { told, exchange } = follow()
  watches.close()
  watches.close()
  expect([told(), exchange.ended]).toEqual([[[], 'end'], true])
})

test('a live turn is found by what its client calls it', () => {
  const { turns, run } = watched()
  const [first, second] = [run('a'), run('b')]
  expect([turns.size, turns.values()]).toEqual([2, [first, second]])
  expect(turns.find('local', { turn: 'a' })).toBe(first)
  expect(turns.find('local', { request: 'r-b' })).toBe(second)
  expect(turns.find('other', { turn: 'a' })).toBeUndefined()
  expect(turns.find('local', 'running')).toBeUndefined()
  expect([turns.countOf('local'), turns.countOf('other')]).toEqual([2, 0])
})

test('of several turns under one request that of the session is meant, else none', () => {
  const { turns, run } = watched()
  run('a', 'local', { request: 'same' })
  run('b', 'local', { request: 'same', session: { id: 's2' } })
  expect(turns.find('local', { request: 'same' }, 's2')).toBe(turns.get('b'))
  expect(turns.find('local', { request: 'same' })).toBeUndefined()
})

test('it is idle when the last turn has ended, or the time is over', async () => {
  const { turns, run } = watched()
  await turns.untilIdle(1000)
  const turn = run('a')
  const said: string[] = []
  void turns.untilIdle(1000).then(() => said.push('idle'))
  void turns.untilIdle(10).then(() => said.push('late'))
  await vi.advanceTimersByTimeAsync(10)
  expect(said).toEqual(['late'])
  turns.delete(turn)
  await vi.advanceTimersByTimeAsync(0)
  expect(said).toEqual(['late', 'idle'])
})

test('it is known for ten minutes when a turn with a key ended', () => {
  const { turns } = watched()
  const end = (id: string): void => {
    turns.delete(plainTurn({ command: start({ turn: id, once: { key: id } as never }) }).turn)
  }
  end('a')
  vi.advanceTimersByTime(500)
  expect(Math.round(turns.endedSince('a')!)).toBe(500)
  vi.advanceTimersByTime(600_000)
  end('b')
  expect([turns.endedSince('a'), Math.round(turns.endedSince('b')!)]).toEqual([undefined, 0])
})
