import type { ClusterConfig } from '../config/index.ts'
import { isShared, type Store } from '../contract/index.ts'
import type { Cluster, HandOver } from '../engine/index.ts'
import { randomId } from '../startup/index.ts'
import { Forwarder, replicaPath } from './forwarder.ts'
import { Passport } from './passport.ts'
import { patienceFor } from './under-way.ts'

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
  const forwarder = new Forwarder(passport, patienceFor(lease))
  const cluster: Cluster = {
    leaseMs: lease,
    handOver: async (replica, session) => handedOver(await forwarder.ask(replica, handOverPath(session))),
    gone: (replica) => forwarder.gone(replica),
    check: async (replica) => troubleOf(await forwarder.ask(replica, replicaPath(replica))),
  }
  return { passport, forwarder, cluster }
}

/** The trouble with a replica that has answered a request about itself with a status; undefined for none. */
function troubleOf(status: number): string | undefined {
  if (status === 0) return 'it cannot be reached there: cluster.address of that replica, or the network'
  if (status === 421) return 'another one answers there: cluster.address of each replica has to be its own'
  return status === 401 ? 'it does not accept this one: cluster.secret differs' : undefined
}

function handedOver(status: number): HandOver {
  if (status === 0) return 'unreached'
  return status === 204 ? 'given' : 'kept'
}

function handOverPath(session: string): string {
  return `/v1/cluster/sessions/${encodeURIComponent(session)}/hand-over`
}
