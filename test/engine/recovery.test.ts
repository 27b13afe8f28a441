import { spawnSync } from 'node:child_process'
import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { ownerAlive, ownOwner } from '../../src/engine/owner.ts'
import { recoverTurns } from '../../src/engine/recovery.ts'
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
  await store.appendEvents([{ turn: 'lost', seq: 1, json: '{"type":"turn-accepted"}' }])

  expect(await recoverTurns(store, 99)).toBe(2)

  const ended = { outcome: 'failed', code: 'internal', endedAt: 99 }
  expect(await store.readTurn('lost')).toMatchObject(ended)
  expect(await store.readTurn('before')).toMatchObject(ended)
  const events = await store.readEvents('lost', 0)
  expect(events.map(({ seq, json }) => [seq, (JSON.parse(json) as { type: string }).type])).toEqual([
    [1, 'turn-accepted'],
    [2, 'turn-end'],
  ])
  expect((await store.unfinishedTurns()).map(({ turn: id }) => id)).toEqual(['running'])
  await store.close()
})
