import type { ClusterConfig } from '../config/index.ts'
import { isShared, type Store } from '../contract/index.ts'
import type { Cluster } from '../engine/index.ts'
import { randomId } from '../startup/index.ts'
import { Forwarder } from './forwarder.ts'
import { Passport } from './passport.ts'

/** The wires to other replicas. */
export interface ClusterPeers {
  passport: Passport
  forwarder: Forwarder
  /** The part that the engine uses. */
  cluster: Cluster
}

/**
 * Makes the wires to the other replicas on a store; undefined for a store that cannot have several. Without a secret of
 * their own the replicas share one that the store keeps.
 */
export async function openPeers({ secrets, lease }: ClusterConfig, store: Store): Promise<ClusterPeers | undefined> {
  if (!isShared(store)) return undefined
  const { replicas } = store
  const shared = secrets.length > 0 ? secrets : [await replicas.secret(randomId(32))]
  const passport = new Passport({ secrets: shared, time: () => replicas.time(Date.now()) })
  const forwarder = new Forwarder(passport)
  const cluster: Cluster = {
    leaseMs: lease,
    handOver: async (replica, session) => (await forwarder.ask(replica, handOverPath(session))) === 204,
    gone: (replica) => forwarder.gone(replica),
  }
  return { passport, forwarder, cluster }
}

function handOverPath(session: string): string {
  return `/v1/cluster/sessions/${encodeURIComponent(session)}/hand-over`
}
