import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { ownerAlive, ownOwner } from '../../src/engine/record/owner.ts'
import { recoverTurns, UNRECORDED } from '../../src/engine/record/recovery.ts'
import { openStore } from '../../src/store/index.ts'

/** The id of a process that has ended. */
const GONE = spawnSync('true').pid

describe('the owner of a turn', () => {
  test.each([
    [ownOwner(), true],
    [`${hostname()}:${GONE}`, false],
    [`${hostname()}:${GONE}:1`, false],
    // A process that has the number of one that is gone: a gateway in a container that was started again, say.
    [`${hostname()}:${process.pid}:1`, false],
    // As a process of another user, and as earlier versions wrote it.
    [`${hostname()}:1`, true],
    [`${hostname()}:${process.pid}`, true],
    ['another.host:1', true],
  ])('%s is alive: %s', (owner, alive) => {
    expect(ownerAlive(owner)).toBe(alive)
  })
})

test('turns whose gateway is gone get an honest ending, others are left alone', async () => {
  const store = openStore({ kind: 'sqlite', path: ':memory:' })
  const key = { tenant: 'local', agent: 'a', session: 's', conversation: '' }
  await store.openSession(key, 'session-1', 1)
  const turn = { session: 'session-1', tenant: 'local', agent: 'a', front: 'zot', startedAt: 1, delivered: false }
  await store.beginTurn({ ...turn, turn: 'lost', owner: `${hostname()}:${GONE}` })
  await store.beginTurn({ ...turn, turn: 'before', owner: ownOwner().replace(/\d+$/, '1') })
  await store.beginTurn({ ...turn, turn: 'running', owner: ownOwner() })
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
  await store.appendEvents(said.map((event, at) => ({ turn: 'lost', seq: at + 1, json: JSON.stringify(event) })))

  expect(await recoverTurns(store, 99)).toBe(2)

  const ended = { outcome: 'failed', code: 'internal', endedAt: 99 }
  expect(await store.readTurn('lost')).toMatchObject(ended)
  expect(await store.readTurn('before')).toMatchObject(ended)
  const events = await store.readEvents('lost', 0)
  expect(events.slice(said.length).map(({ seq, json }) => [seq, JSON.parse(json)])).toEqual([
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
  expect((await store.unfinishedTurns()).map(({ turn: id }) => id)).toEqual(['running'])
  await store.close()
})
