/** A store of a process that ends soon, beside many others on the same file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Awaitable, SessionKey, Store, TurnRecord } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'
import { storeContract } from './contract.ts'

const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
const folder = mkdtempSync(join(tmpdir(), 'turnpike-short-lived-store-'))
let files = 0
const newPath = (): string => join(folder, `${++files}.db`)
const open = (path: string): Store => openStore({ kind: 'sqlite', path }, { shortLived: true })

afterAll(() => rmSync(folder, { recursive: true, force: true }))

storeContract('a short-lived SQLite store', () => open(newPath()))

const KEY: SessionKey = { tenant: 'a', agent: 'b', session: 'c', conversation: '' }
const TURN: TurnRecord = {
  turn: 'T',
  session: 'S',
  tenant: 'a',
  agent: 'b',
  front: 'zene',
  owner: 'host:1',
  epoch: 1,
  startedAt: 1,
  delivered: false,
}

type Reads =
  | 'close'
  | 'commit'
  | 'findKnown'
  | 'findSession'
  | 'hasOtherLease'
  | 'heardBy'
  | 'lostTurns'
  | `list${string}`
  | `read${string}`
  | 'spentOf'
  | 'unfinishedTurns'
  | 'usageOf'
  | 'version'

/** Everything that writes, in an order that has something to write each time. */
const WRITES = {
  openSession: (store) => store.openSession(KEY, 'S', 1),
  bindSession: (store) => store.bindSession('S', 'bound'),
  beginTurn: (store) => store.beginTurn(TURN),
  appendEvents: (store) => store.appendEvents([{ turn: 'T', seq: 1, lines: '1' }]),
  appendMessage: (store) => store.appendMessage('S', { role: 'user', parts: [], at: 1 }),
  touchSession: (store) => store.touchSession('S', 2),
  endTurn: (store) => store.endTurn({ ...TURN, endedAt: 2, outcome: 'completed' }),
  markDelivered: (store) => store.markDelivered('T'),
  clearSession: (store) => store.clearSession('S', 2),
  setSession: (store) => store.setSession('S', { mode: 'plan' }),
  claim: (store) => store.claim('key', 'T', 'body', 1, 1000),
  reclaim: (store) => store.reclaim('key', 'T2', 'body', 1, { turn: 'T', ended: true }),
  release: (store) => store.release('key', 'T2'),
  takeLease: (store) => store.takeLease('host:1', 1, 5),
  renewLease: (store) => store.renewLease(TURN, 9),
  lapseLease: (store) => store.lapseLease(TURN, 9, 1),
  dropLease: (store) => store.dropLease(TURN),
  takePlace: (store) => store.takePlace({ ...TURN, turn: 'T3' }, 1),
  givePlace: (store) => store.givePlace('T3'),
  shareCounts: (store) => store.shareCounts('p', new Map([['key', 1]]), 1),
  probe: (store) => store.probe(),
  prune: (store) => store.prune(1, 1),
  deleteTurn: (store) => store.deleteTurn('T'),
  deleteSession: (store) => store.deleteSession('S'),
} satisfies Record<Exclude<keyof Store, Reads>, (store: Store) => Awaitable<unknown>>

describe('a short-lived store', () => {
  it.each(Object.keys(WRITES) as (keyof typeof WRITES)[])('holds no lock once it has answered: %s', (name) => {
    const path = newPath()
    const [store, other] = [open(path), new DatabaseSync(path)]
    other.exec('PRAGMA busy_timeout = 0')
    for (const [known, write] of Object.entries(WRITES)) {
      expect(write(store)).not.toBeInstanceOf(Promise)
      if (known !== name) continue
      other.exec('BEGIN IMMEDIATE; COMMIT')
      break
    }
    other.close()
  })

  it('waits for a lock without holding up its process, and writes in order when it is free', async () => {
    const path = newPath()
    const [store, other] = [open(path), new DatabaseSync(path)]
    other.exec('BEGIN IMMEDIATE')
    let answered = false
    const session = Promise.resolve(store.openSession(KEY, 'S', 1)).then((record) => {
      answered = true
      return record
    })
    const begun = store.beginTurn(TURN)
    const read = store.readTurn('T')
    const committed = store.commit()
    // Longer than a gateway waits, which is busy with it all the time.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(answered).toBe(false)
    other.exec('COMMIT')
    other.close()
    expect(await session).toMatchObject({ id: 'S' })
    await begun
    await committed
    expect(await read).toEqual(TURN)
    await store.close()
  })

  it('is tried without waiting', async () => {
    const path = newPath()
    const [store, other] = [open(path), new DatabaseSync(path)]
    other.exec('BEGIN IMMEDIATE')
    expect(() => store.probe()).toThrow(/is locked by another process/)
    other.exec('COMMIT')
    other.close()
    await store.probe()
    await store.close()
  })
})
