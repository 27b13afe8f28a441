import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import { type Scope, Watches } from '../../src/engine/session/watch.ts'
import type { Turn } from '../../src/engine/turn/turn.ts'
import { liveInfo } from '../../src/engine/turn/turn-info.ts'
import type { Command, LinkEvent, TurnInfoReply, TurnsArgs } from '../../src/model/index.ts'
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

/** What another process tells of a turn. */
const told = (turn: string, more: Partial<TurnInfoReply> = {}): TurnInfoReply => ({
  turn,
  state: 'running',
  agent: 'plain',
  front: 'acp',
  back: 'zot',
  session: 's',
  startedAt: 1,
  ...more,
})

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

test('the number of clients that have begun to follow counts those that were refused or have left out', () => {
  const { watches, follow } = watched()
  expect([watches.added, watches.any]).toEqual([0, false])
  const all = Array.from({ length: 65 }, () => follow())
  expect([watches.added, watches.any]).toEqual([64, true])
  for (const { exchange } of all) exchange.drop()
  expect([watches.added, watches.any]).toEqual([64, false])
})

test.each<[who: string, scope: Scope, seen: string[][]]>([
  ['its tenant', { tenant: 'local' }, [['a'], ['a'], ['x']]],
  ['another tenant', { tenant: 'other' }, [['b'], ['b'], ['y']]],
  ['everybody', {}, [['a', 'b'], ['a'], ['b'], ['x'], ['y']]],
  ['nobody', 'none', [[]]],
])('a client that may see the turns of %s is told of those, here and of other processes', (_who, scope, seen) => {
  const { watches, follow, run } = watched()
  const [first, second] = [run('a'), run('b', 'other')]
  const { told: heard } = follow(scope)
  watches.changed(first)
  watches.changed(second)
  watches.tell(told('x'), { tenant: 'local', session: 'kept' })
  watches.tell(told('y'), { tenant: 'other', session: 'kept' })
  expect(heard()).toEqual(seen)
})

test.each<[TurnsArgs, seen: string[][]]>([
  [{ agent: 'plain' }, [['a'], ['a'], ['x']]],
  [{ agent: 'other' }, [[], ['y']]],
  [{ session: 's' }, [['a'], ['a'], ['x'], ['y']]],
  [{ session: 'kept' }, [['a'], ['a'], ['x'], ['y']]],
  [{ session: 'unknown' }, [[]]],
  [{ q: 'R-A' }, [['a'], ['a']]],
  // What a turn leaves when its state changes: no condition.
  [{ state: 'completed' }, [['a'], ['a'], ['x'], ['y']]],
  [{ key: 'somebody' }, [['a'], ['a'], ['x'], ['y']]],
])('a client that asks for %j is told of turns that match', (args, seen) => {
  const { watches, follow, run } = watched()
  const turn = run('a')
  const { told: heard } = follow({}, args)
  watches.changed(turn)
  watches.tell(told('x'), { tenant: 'local', session: 'kept' })
  watches.tell(told('y', { agent: 'other' }), { tenant: 'local', session: 'kept' })
  expect(heard()).toEqual(seen)
})

test('a turn is told as it is listed', () => {
  const { watches, follow, run } = watched()
  const { host } = follow()
  const turn = run('a')
  watches.changed(turn)
  const reply = host.replies.at(-1)
  expect(reply).toMatchObject({ turn: null, type: 'command-reply', exchange: 'x', more: true })
  const { turns } = JSON.parse((reply as { data: string }).data) as { turns: TurnInfoReply[] }
  expect(turns).toEqual([liveInfo(turn)])
})

test('a client that is behind gets what comes in order, also once it keeps up again and until it has caught up', () => {
  const { watches, follow } = watched()
  const { host, told: heard } = follow({})
  const tell = (turn: string): void => watches.tell(told(turn), { tenant: 'local', session: 'kept' })
  host.client.clogged = true
  tell('a')
  host.client.clogged = false
  tell('b')
  tell('a')
  expect(heard()).toEqual([[]])
  vi.advanceTimersByTime(100)
  expect(heard()).toEqual([[], ['b', 'a']])
  tell('c')
  expect(heard()).toEqual([[], ['b', 'a'], ['c']])
  vi.advanceTimersByTime(1000)
  expect([heard().length, vi.getTimerCount()]).toEqual([3, 0])
})

test('a client that stays behind is left out the oldest of more than a thousand turns', () => {
  const { watches, follow } = watched()
  const { host, told: heard } = follow({})
  const tell = (turn: string): void => watches.tell(told(turn), { tenant: 'local', session: 'kept' })
  host.client.clogged = true
  for (let turn = 0; turn < 1000; turn += 1) tell(`t${turn}`)
  // The newest state of one that waits takes no further place.
  tell('t0')
  tell('last')
  host.client.clogged = false
  vi.advanceTimersByTime(100)
  const turns = heard().at(-1) as string[]
  expect([turns.length, turns[0], turns.at(-2), turns.at(-1)]).toEqual([1000, 't2', 't0', 'last'])
})

test('a client that leaves while it is behind is not tried again', () => {
  const { watches, follow } = watched()
  const { host, exchange, told: heard } = follow({})
  host.client.clogged = true
  watches.tell(told('a'), { tenant: 'local', session: 'kept' })
  exchange.drop()
  host.client.clogged = false
  vi.advanceTimersByTime(100)
  expect([heard(), vi.getTimerCount()]).toEqual([[[]], 0])
})

test('neither a client that leaves nor a gateway that stops leaves a timer behind', () => {
  const { watches, follow } = watched()
  const [one, other] = [follow({}), follow({})]
  for (const { host } of [one, other]) host.client.clogged = true
  watches.tell(told('a'), { tenant: 'local', session: 'kept' })
  expect(vi.getTimerCount()).toBe(2)
  one.exchange.drop()
  expect([watches.any, vi.getTimerCount()]).toEqual([true, 1])
  watches.close()
  expect([watches.any, vi.getTimerCount()]).toEqual([false, 0])
  watches.tell(told('b'), { tenant: 'local', session: 'kept' })
  expect(other.told()).toEqual([[], 'end'])
})
