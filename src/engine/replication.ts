import { isShared, type Replica, type Store } from '../contract/index.ts'
import { type Cluster, type CurrentSettings, type EngineLog, logMistake } from './common/index.ts'
import { Forwarding } from './dispatch/index.ts'
import { PeerChecks } from './peer-checks.ts'
import { type Lease, Replicas, TurnsElsewhere } from './record/index.ts'
import type { LiveTurns, Sessions, Watches } from './session/index.ts'

/** Dependencies of `Replication`. */
export interface ReplicationParts {
  store: Store
  lease: Lease
  turns: LiveTurns
  sessions: Sessions
  watches: Watches
  settings: CurrentSettings
  log: EngineLog
  /** Milliseconds since the epoch. */
  now(): number
}

/** The replicas on a store; undefined where the store cannot have several. */
export function replicationOf(
  cluster: Cluster,
  { store, lease, turns, sessions, watches, settings, log, now }: ReplicationParts,
): Replication | undefined {
  if (!isShared(store)) return undefined
  const gone = (replica: Replica): void => {
    log.warn('a replica is gone', { address: replica.address })
    cluster.gone(replica)
  }
  // A store that cannot be read is soon asked again.
  const failed = (error: unknown): void => logMistake(log, error)
  const checks = new PeerChecks(cluster, log)
  const elsewhere = new TurnsElsewhere({ store, lease, watches })
  const heard = (others: readonly Replica[]): void => {
    sessions.share((agent) => 1 + others.filter(({ agents, expired }) => !expired && agent in agents).length)
    checks.heard(others)
    void elsewhere.look().catch(failed)
  }
  const replicas = new Replicas({ store, lease, gone, heard, failed, now })
  const forwarding = new Forwarding({ store, replicas, cluster, turns, sessions, settings })
  return new Replication(replicas, forwarding)
}

/** This process as one of several replicas. */
export class Replication {
  readonly replicas: Replicas
  readonly forwarding: Forwarding

  constructor(replicas: Replicas, forwarding: Forwarding) {
    this.replicas = replicas
    this.forwarding = forwarding
  }

  /** True once it takes no sessions any more. */
  get draining(): boolean {
    return this.forwarding.draining
  }

  /** Announces this replica to the others. To be called when it serves clients. */
  join(address: string, version: string): Promise<void> {
    return this.replicas.join(() => ({
      address,
      version,
      agents: this.forwarding.room(),
      draining: this.draining,
    }))
  }

  /** Gives a session up, as another replica asks. False when a turn of it runs here. */
  giveUp(session: string): Promise<boolean> {
    return this.forwarding.giveUp(session)
  }

  /** True while another replica still has the lease that it announced. */
  isThere({ owner, epoch }: Replica): boolean {
    return this.replicas.others.some((other) => other.owner === owner && other.epoch === epoch)
  }

  /** Takes no sessions from now on, and tells the others. */
  async drain(): Promise<void> {
    this.forwarding.draining = true
    await this.replicas.refresh()
  }

  close(): void {
    this.replicas.close()
  }
}
