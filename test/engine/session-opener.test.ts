import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { SessionKey, Store } from '../../src/contract/index.ts'
import { openStore } from '../../src/store/index.ts'
import { engineParts, settingsOf } from '../kit/engine-parts.ts'
import { plainAgent } from '../kit/plain.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-opener-'))
const KEY: SessionKey = { tenant: 'local', agent: 'plain', session: 's', conversation: '' }
const AGENT = plainAgent('')
let files = 0
let store: Store
let other: Store
/** The reads of sessions. */
let reads: number
let parts: ReturnType<typeof engineParts>

beforeEach(() => {
  const path = join(folder, `${++files}.db`)
  other = openStore({ kind: 'sqlite', path })
  store = openStore({ kind: 'sqlite', path })
  reads = 0
  const counted = new Proxy(store, {
    get: (of, name: keyof Store) => {
      if (name === 'findSession') reads += 1
      return (of[name] as () => unknown).bind(of)
    },
  })
  parts = engineParts(counted, settingsOf([AGENT]))
})

afterEach(async () => {
  await parts.recorder.flush()
  for (const session of parts.live.values()) session.close()
  await store.close()
  await other.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Opens the session for a turn. Gives its record and its session in memory. */
async function opened() {
  const record = await parts.opener.record(KEY, 7)
  // Another process may write then.
  await parts.recorder.flush()
  return { record, live: parts.opener.open(record, AGENT, undefined) }
}

test('a session in memory is read again only when another process has changed the store', async () => {
  const { live } = await opened()
  expect((await opened()).record).toBe(live.record)
  const before = reads
  for (let turn = 0; turn < 3; turn++) expect((await opened()).live).toBe(live)
  expect(reads).toBe(before)
  await other.setSession(live.record.id, { model: 'opus' })
  await other.commit()
  expect((await opened()).live.record.settings).toEqual({ model: 'opus' })
  await opened()
  expect(reads).toBe(before + 1)
})

test('a session that another process has begun again begins again here', async () => {
  const { live } = await opened()
  live.memory.bind('theirs')
  await opened()
  await other.clearSession(live.record.id, 50)
  await other.commit()
  const { record } = await opened()
  expect([record.epoch, record.bound, record === live.record]).toEqual([50, undefined, true])
})

test('a session that another process has deleted is another one', async () => {
  const { live } = await opened()
  await opened()
  await other.deleteSession(live.record.id)
  await other.commit()
  const { record } = await opened()
  expect(record.id).not.toBe(live.record.id)
  expect(await store.readSession(record.id)).toMatchObject(KEY)
})

test('its use is recorded each time', async () => {
  const { record } = await opened()
  await parts.opener.record(KEY, 20)
  await parts.opener.record(KEY, 30)
  await parts.recorder.flush()
  expect(await store.readSession(record.id)).toMatchObject({ usedAt: 30 })
})
