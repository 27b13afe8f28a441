import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/contract/index.ts'
import { Duplicates } from '../../src/engine/dispatch/duplicates.ts'
import { Idempotency } from '../../src/engine/record/idempotency.ts'
import { LiveTurns } from '../../src/engine/session/live-turns.ts'
import type { EventOf } from '../../src/model/index.ts'
import { openStore } from '../../src/store/index.ts'
import { entryFor } from '../kit/engine-parts.ts'
import { plainAgent, plainTurn, start } from '../kit/plain.ts'

let store: Store
let duplicates: Duplicates
beforeEach(() => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  const now = (): number => 9
  duplicates = new Duplicates({ store, now }, new Idempotency(store, now, new LiveTurns()))
})
afterEach(() => store.close())

const agent = plainAgent('')

describe('a request under a known key', () => {
  test.each([
    [{ do: 'stop' }, 'cancelled', undefined],
    [{ do: 'refuse' }, 'idempotency-conflict', undefined],
    [{ do: 'replay', turn: 'none' }, 'internal', 'The record of the first answer is gone; use a new key.'],
  ] as const)('is refused on the verdict %j: %s', async (verdict, code, message) => {
    const { entry, host, shared } = entryFor(agent)
    await duplicates.answer(verdict, entry)
    expect(host.faults).toMatchObject([{ code, ...(message !== undefined && { message }) }])
    expect([host.ended.length, shared]).toEqual([1, []])
  })

  test('that was cancelled while it waited cancels the turn that it joins', async () => {
    const { entry, host, shared } = entryFor(agent, { command: start({ turn: 't2' }) })
    const { turn } = plainTurn()
    turn.accept()
    entry.exchange.cancel()
    await duplicates.answer({ do: 'join', turn }, entry)
    expect([turn.cancelled, host.types.at(-1), shared]).toEqual([true, 'turn-end', ['joined']])
  })
})

describe('a request in the session of a parked turn', () => {
  const options = [{ id: 'ok', kind: 'allow', scope: 'once' }] as const
  const question = { kind: 'approval', name: 'rm', args: '{}', options } as const
  const ask: EventOf<'ask'> = { type: 'ask', turn: 't', ask: 'q', question }

  test.each([
    ['ok', ['ask-settled'], []],
    ['why?', ['turn-parked'], ['turn-start']],
  ])('with the text "%s" gets %j, and loses %j', async (text, types, lost) => {
    const { turn, run } = plainTurn({ answer: { asks: 'next-request' } })
    turn.link = { send() {}, pause() {} } as never
    if (run.asks.asked(ask)) turn.take(run.asks.shown(ask))
    await Promise.resolve()
    expect(turn.questions?.parked?.asks.map((open) => open.ask)).toEqual(['q'])
    const command = start({ turn: 't2', input: [{ type: 'text', text: ` ${text}\n` }] })
    const { entry, host, shared } = entryFor(agent, { command, answer: { asks: 'next-request' } })
    await duplicates.askAgain(turn, entry)
    await Promise.resolve()
    expect([host.types, shared]).toEqual([types, ['answered']])
    expect(entry.exchange.ownLosses.map(({ item }) => item)).toEqual(lost)
  })
})

describe('a request that is answered from the record', () => {
  const about = { session: 'kept', tenant: 'local', agent: 'plain', front: 'acp', owner: 'o', epoch: 1 }
  const accepted: EventOf<'turn-accepted'> = {
    type: 'turn-accepted',
    turn: 't',
    how: 'new',
    session: 's',
    request: 'r1',
  }
  const end: EventOf<'turn-end'> = { type: 'turn-end', turn: 't', outcome: 'completed' }
  beforeEach(async () => {
    await store.openSession({ tenant: 'local', agent: 'plain', session: 's', conversation: '' }, 'kept', 1)
    const lines = [accepted, end].map((event) => JSON.stringify(event)).join('\n')
    const ended = { endedAt: 5, outcome: 'completed', delivered: true } as const
    await store.endTurn({ ...about, ...ended, turn: 't', startedAt: 4 }, { events: { turn: 't', seq: 1, lines } })
  })

  test.each([
    [{ id: 'mine' }, 'mine'],
    [{}, ''],
    [undefined, ''],
  ])('has the session %j of its own, and its own request', async (session, shown) => {
    const views: string[] = []
    const command = start({ turn: 't2', request: 'r2' })
    if (session === undefined) delete command.session
    else command.session = session
    const { entry, host, shared } = entryFor(agent, { command })
    host.encode = (event, ...[, view]: unknown[]) => {
      host.events.push(event)
      views.push((view as { session: string }).session)
    }
    await duplicates.answer({ do: 'replay', turn: 't' }, entry)
    expect(host.events).toEqual([{ ...accepted, how: 'replayed', request: 'r2' }, end])
    expect([shared, entry.exchange.replays, views]).toEqual([['replayed'], true, [shown, shown]])
  })

  test('is none of one whose record is gone, and shares nothing then', async () => {
    const { entry, host, shared } = entryFor(agent)
    await duplicates.answer({ do: 'replay', turn: 'gone' }, entry)
    expect([host.types, shared, entry.exchange.replays]).toEqual([[], [], false])
  })
})

describe('a request that joins a turn', () => {
  test('is told it from its beginning', async () => {
    const { turn } = plainTurn({ recorder: { events: async () => [{ seq: 1, event: shownFirst }] } })
    const shownFirst = { type: 'turn-accepted', turn: 't', how: 'new', session: 's' } as const
    turn.accept()
    const { entry, host, shared } = entryFor(agent, { command: start({ turn: 't2', request: 'r2' }) })
    await duplicates.answer({ do: 'join', turn }, entry)
    expect([host.events, shared, turn.cancelled]).toEqual([
      [{ ...shownFirst, how: 'joined', request: 'r2' }],
      ['joined'],
      false,
    ])
  })
})
