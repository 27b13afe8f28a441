/** A store in PostgreSQL for tests of what replicas share, with leases of some. */
import { isShared, type SharedStore } from '../../src/contract/index.ts'
import { Lease } from '../../src/engine/record/lease.ts'
import { openStore } from '../../src/store/index.ts'
import { SILENT_LOG } from './plain.ts'
import type { PostgresServer } from './postgres.ts'

let schemas = 0

/** A store in a schema of its own. */
export async function openShared(server: PostgresServer): Promise<SharedStore> {
  const store = await openStore({ kind: 'postgres', url: server.url, schema: `shared_${process.pid}_${++schemas}` })
  if (!isShared(store)) throw new Error('this store is not shared')
  return store
}

/** The lease of a process that serves under a name. */
export async function leaseOf(store: SharedStore, name: string, now: () => number): Promise<Lease> {
  const lease = new Lease({ store, log: SILENT_LOG, now }, { busy: false, refuse() {} })
  await lease.serve(name)
  return lease
}
