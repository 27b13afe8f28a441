import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type SharedStore, silentHooks } from '../../src/contract/index.ts'
import type { Cluster } from '../../src/engine/common/index.ts'
import { Engine } from '../../src/engine/engine.ts'
import { LAST_CALL_MS, RENEW_MS } from '../../src/engine/record/lease.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { plainAgent, plainWire, SILENT_LOG, start } from '../kit/plain.ts'
import { POSTGRES_BIN, type PostgresServer, startPostgres } from '../kit/postgres.ts'
import { openShared } from '../kit/shared-store.ts'

const CLUSTER: Cluster = {
  leaseMs: RENEW_MS + LAST_CALL_MS + LAST_CALL_MS,
  handOver: async () => 'kept',
  gone() {},
  check: async () => undefined,
}

/** Ends each turn under the id that it has. */
const QUICK = `read -r line
turn=\${line#*'"turn":"'}
echo '{"turn":"'"\${turn%%'"'*}"'","type":"turn-end","outcome":"completed"}'`

/** A process that serves nobody gives up its lease while no turn runs, and with it its sessions. */
describe.skipIf(POSTGRES_BIN === undefined)('the lease of a process that serves nobody', () => {
  let server: PostgresServer
  let store: SharedStore
  let engine: Engine

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    store = await openShared(server)
    engine = new Engine({ settings: settings(), store, hooks: silentHooks, log: SILENT_LOG, cluster: CLUSTER })
  })
  afterEach(async () => {
    await engine.close(0)
    vi.useRealTimers()
  })

  const settings = () => settingsOf([plainAgent(QUICK)], { default: 'plain' })

  /** A turn of the session `s`: what its client gets. */
  function ask(turn: string): Promise<string> {
    const { options, answered } = plainWire()
    const client = engine.client(options)
    client.open()
    client.push(`${JSON.stringify(start({ turn }))}\n`)
    return answered
  }

  /** The next renewal of the lease is due, and what follows from it is done. */
  async function renewal(): Promise<void> {
    await vi.advanceTimersByTimeAsync(2 * RENEW_MS)
    await store.commit()
  }

  /** The session is not in memory any more. One whose agent still ends would stay. */
  async function forgotten(): Promise<void> {
    await renewal()
    engine.reload(settings())
  }

  test('ends between two turns, and the session goes on under the next one', async () => {
    expect(await ask('first')).toContain('"outcome":"completed"')
    const dropped = vi.spyOn(store, 'dropLease')
    await renewal()
    expect(dropped).toHaveBeenCalledTimes(1)
    expect(await ask('next')).toContain('"outcome":"completed"')
  })

  test('lasts from the moment in which a session is taken for a turn', async () => {
    expect(await ask('first')).toContain('"outcome":"completed"')
    await forgotten()
    const dropped = vi.spyOn(store, 'dropLease')
    const { heardBy } = store
    vi.spyOn(store, 'heardBy').mockImplementation(async (id) => {
      await renewal()
      return heardBy.call(store, id)
    })
    expect(await ask('next')).toContain('"outcome":"completed"')
    expect(dropped).not.toHaveBeenCalled()
    await renewal()
    expect(dropped).toHaveBeenCalledTimes(1)
  })

  test('ends when the request for a turn was refused', async () => {
    expect(await ask('first')).toContain('"outcome":"completed"')
    await forgotten()
    vi.spyOn(store, 'heardBy').mockRejectedValueOnce(new Error('torn'))
    expect(await ask('next')).toContain('"internal"')
    const dropped = vi.spyOn(store, 'dropLease')
    await renewal()
    expect(dropped).toHaveBeenCalledTimes(1)
  })
})
