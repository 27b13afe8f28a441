import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store, TurnRecord } from '../../src/contract/index.ts'
import { Exchange } from '../../src/engine/client/exchange.ts'
import { TurnsElsewhere } from '../../src/engine/record/turns-elsewhere.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import { type Scope, Watches } from '../../src/engine/session/watch.ts'
import type { TurnsArgs, TurnsReply } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { ANSWER, PlainHost } from '../kit/plain.ts'
import { storeFailure } from '../kit/store-failure.ts'
import { KEY, TURN } from '../store/contract.ts'

let store: Store
let watches: Watches
let elsewhere: TurnsElsewhere

beforeEach(async () => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  await store.openSession(KEY, 'S1', 1)
  watches = new Watches(new LiveTurns())
  elsewhere = new TurnsElsewhere({ store, lease: { owner: 'self' }, watches })
})
afterEach(() => store.close())

const begin = (turn: string, more: Partial<TurnRecord> = {}) => store.beginTurn({ ...TURN, turn, ...more })
const end = (turn: string, more: Partial<TurnRecord> = {}) =>
  store.endTurn({ ...TURN, turn, endedAt: 200, outcome: 'completed', ...more })

/** Somebody who follows. Gives what was told since it was asked last. */
function follow(scope: Scope = { tenant: 'acme' }, args: TurnsArgs = {}) {
  const host = new PlainHost()
  const exchange = new Exchange({ exchange: 'x', type: 'query', what: 'turns' }, ANSWER, host)
  watches.add(exchange, scope, args)
  const told = (): string[] =>
    host.replies.splice(0).flatMap((reply) => {
      const { turns } = JSON.parse((reply as { data: string }).data) as TurnsReply
      return turns.map(({ turn, state }) => `${turn} ${state}`)
    })
  return { told, exchange }
}

test('a follower is told of the turns that others run, then of what changes', async () => {
  await begin('before')
  await end('over')
  const { told } = follow()
  await elsewhere.look()
  expect(told()).toEqual(['before running'])
  await begin('begins', { startedAt: 300 })
  await end('brief', { startedAt: 301 })
  await end('before')
  await begin('own', { owner: 'self' })
  await elsewhere.look()
  expect(told().sort()).toEqual(['before completed', 'begins running', 'brief completed'])
  await elsewhere.look()
  expect(told()).toEqual([])
})

test('each is told of what it may see and wants, and a later one of what runs', async () => {
  await begin('one')
  const [own, other, all] = [follow(), follow({ tenant: 'other' }), follow({}, { agent: 'none' })]
  await elsewhere.look()
  expect([own.told(), other.told(), all.told()]).toEqual([['one running'], [], []])
  const late = follow({})
  await elsewhere.look()
  expect([late.told(), other.told()]).toEqual([['one running'], []])
})

test('the end of a turn is told that is not among the newest any more', async () => {
  await begin('old', { startedAt: 1 })
  const { told } = follow()
  await elsewhere.look()
  for (let at = 0; at < 200; at += 1) await end(`t${at}`, { owner: 'self', startedAt: 300 + at })
  await elsewhere.look()
  expect(told()).toEqual(['old running'])
  await end('old', { outcome: 'failed' })
  await elsewhere.look()
  await elsewhere.look()
  expect(told()).toEqual(['old failed'])
})

test('nothing is read while nobody follows, and what was over before is not told', async () => {
  const { exchange } = follow()
  await elsewhere.look()
  exchange.cancel()
  exchange.reply({})
  store.listTurns = () => {
    throw storeFailure('read')
  }
  await elsewhere.look()
})
