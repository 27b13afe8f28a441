import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LeaseRef, Store } from '../../src/contract/index.ts'
import { LOST } from '../../src/engine/common/faults.ts'
import { numbered } from '../../src/engine/events/recorded.ts'
import { LAST_CALL_MS } from '../../src/engine/record/lease.ts'
import { endIfLost, endLostTurn, readTurn, recoverTurns, UNRECORDED } from '../../src/engine/record/recovery.ts'
import { openStore } from '../../src/store/index.ts'

let store: Store

beforeEach(async () => {
  store = openStore({ kind: 'sqlite', path: ':memory:' })
  await store.openSession({ tenant: 'local', agent: 'a', session: 's', conversation: '' }, 'session-1', 1)
})
afterEach(() => store.close())

/** A turn that runs under the lease of this owner, unless it is to be another one's. */
async function begin(turn: string, { owner, epoch }: LeaseRef): Promise<void> {
  const about = { session: 'session-1', tenant: 'local', agent: 'a', front: 'zot', startedAt: 1, delivered: false }
  await store.beginTurn({ ...about, turn, owner, epoch })
}

test('turns whose process is gone get an honest ending, others are left alone', async () => {
  const before = { owner: 'this', epoch: await store.takeLease('this', 1, 50) }
  await begin('before', before)
  const gone = { owner: 'gone', epoch: await store.takeLease('gone', 1, 50) }
  await begin('lost', gone)
  await begin('running', { owner: 'this', epoch: await store.takeLease('this', 1, 100) })
  const of = { turn: 'lost' }
  const said = [
    { ...of, type: 'turn-accepted', how: 'new', session: 's' },
    { ...of, type: 'turn-started' },
    { ...of, type: 'step-start', step: 1 },
    { ...of, type: 'message-start', message: 'm0', role: 'assistant' },
    { ...of, type: 'message-end', message: 'm0' },
    { ...of, type: 'message-start', message: 'm1', role: 'assistant' },
    { ...of, type: 'text-delta', message: 'm1', text: 'half' },
    { ...of, type: 'usage', scope: 'turn', usage: { input: 1 } },
    { ...of, type: 'tool-start', tool: 'c1', name: 'ls', executor: 'agent' },
  ]
  await store.appendEvents([{ turn: 'lost', seq: 1, lines: said.map((event) => JSON.stringify(event)).join('\n') }])
  await store.dropLease(gone)

  expect(await recoverTurns(store, 99)).toBe(2)

  const ended = { outcome: 'failed', code: 'internal', endedAt: 99 }
  expect(await store.readTurn('lost')).toMatchObject(ended)
  expect(await store.readTurn('before')).toMatchObject(ended)
  const events = numbered(await store.readEvents('lost', 0), 0)
  expect(events.slice(said.length).map(({ seq, event }) => [seq, event])).toEqual([
    [UNRECORDED + 9, { ...of, type: 'tool-end', tool: 'c1', status: 'error', parts: [] }],
    [UNRECORDED + 10, { ...of, type: 'message-end', message: 'm1' }],
    [UNRECORDED + 11, { ...of, type: 'step-end', step: 1, stop: 'error' }],
    [
      UNRECORDED + 12,
      {
        ...of,
        type: 'turn-end',
        outcome: 'failed',
        stop: 'error',
        fault: expect.objectContaining({ code: 'internal' }),
      },
    ],
  ])
  expect((await store.unfinishedTurns()).map(({ turn }) => turn)).toEqual(['running'])
})

test('a process that has stopped renewing its lease is called once more before its turns are ended', async () => {
  const lease = { owner: 'that', epoch: await store.takeLease('that', 1, 50) }
  await begin('one', lease)
  await begin('two', lease)
  expect(await recoverTurns(store, 60)).toBe(0)
  expect(await recoverTurns(store, 59 + LAST_CALL_MS)).toBe(0)
  expect(await recoverTurns(store, 60 + LAST_CALL_MS)).toBe(2)
  expect(await store.renewLease(lease, 99)).toBe(false)
})

test('whoever reads a turn whose process is gone ends it, and what its process writes later does not count', async () => {
  const lease = { owner: 'that', epoch: await store.takeLease('that', 1, 50) }
  await begin('t', lease)
  expect(await readTurn(store, 't', 49)).not.toHaveProperty('outcome')
  expect(await readTurn(store, 't', 50)).not.toHaveProperty('outcome')
  const lost = { outcome: 'failed', code: LOST.code, endedAt: 50 + LAST_CALL_MS }
  expect(await readTurn(store, 't', 50 + LAST_CALL_MS)).toMatchObject(lost)
  await store.appendEvents([{ turn: 't', seq: 1, lines: '{}' }])
  await store.endTurn({ ...(await store.readTurn('t'))!, endedAt: 99, outcome: 'completed' })
  expect(await readTurn(store, 't', 99)).toMatchObject(lost)
  expect((await store.readEvents('t', 0)).map(({ seq }) => seq)).toEqual([UNRECORDED])
  expect(await readTurn(store, 'none', 99)).toBeUndefined()
})

test('turns are ended fifty at a time, and all of them', async () => {
  const gone = { owner: 'gone', epoch: await store.takeLease('gone', 1, 50) }
  for (let turn = 0; turn < 101; turn += 1) await begin(`t${turn}`, gone)
  await store.dropLease(gone)
  let running = 0
  let most = 0
  const endTurn = store.endTurn.bind(store)
  store.endTurn = async (...args) => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
    return endTurn(...args)
  }
  expect(await recoverTurns(store, 99)).toBe(101)
  expect([most, (await store.unfinishedTurns()).length]).toEqual([50, 0])
  expect(await recoverTurns(store, 99)).toBe(0)
})

test('a turn with its end is not looked at again', async () => {
  const lease = { owner: 'that', epoch: await store.takeLease('that', 1, 50) }
  await begin('t', lease)
  const record = (await store.readTurn('t'))!
  store.lapseLease = () => {
    throw new Error('asked for nothing')
  }
  expect(await endIfLost(store, { ...record, outcome: 'completed' }, 99)).toBe(false)
})

test('a turn whose end is among its events and not in its record gets that end, and no further events', async () => {
  const lease = { owner: 'that', epoch: await store.takeLease('that', 1, 50) }
  await begin('t', lease)
  await begin('u', lease)
  const fault = { code: 'timeout', message: 'late', retryable: true }
  const ends = [
    { type: 'turn-end', turn: 't', outcome: 'completed', stop: 'end' },
    { type: 'turn-end', turn: 'u', outcome: 'failed', fault },
  ]
  await store.appendEvents(ends.map((end) => ({ turn: end.turn, seq: 1, lines: JSON.stringify(end) })))
  for (const { turn } of ends) await endLostTurn(store, (await store.readTurn(turn))!, 99, LOST)
  const completed = (await store.readTurn('t'))!
  expect([completed.outcome, completed.endedAt, 'code' in completed]).toEqual(['completed', 99, false])
  expect(await store.readTurn('u')).toMatchObject({ outcome: 'failed', code: 'timeout', endedAt: 99 })
  for (const { turn } of ends) expect((await store.readEvents(turn, 0)).map(({ seq }) => seq)).toEqual([1])
})

test('a turn of which nothing is recorded ends at the distance, with the reason that is given', async () => {
  const lease = { owner: 'that', epoch: await store.takeLease('that', 1, 50) }
  await begin('t', lease)
  const why = { code: 'agent-crashed', message: 'gone', retryable: false } as const
  await endLostTurn(store, (await store.readTurn('t'))!, 99, why)
  expect(numbered(await store.readEvents('t', 0), 0)).toEqual([
    { seq: UNRECORDED, event: { type: 'turn-end', turn: 't', outcome: 'failed', stop: 'error', fault: why } },
  ])
  expect(await store.readTurn('t')).toMatchObject({ outcome: 'failed', code: 'agent-crashed' })
})
