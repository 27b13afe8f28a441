import type { Replica } from '../contract/index.ts'
import type { Cluster, EngineLog } from './common/index.ts'

/**
 * Asks each other replica once whether it can be reached, and logs what is wrong: otherwise only a request for one of
 * its sessions would show it.
 */
export class PeerChecks {
  readonly #cluster: Cluster
  readonly #log: EngineLog
  /** The leases of the replicas that were asked. */
  #asked: ReadonlySet<string> = new Set()

  constructor(cluster: Cluster, log: EngineLog) {
    this.#cluster = cluster
    this.#log = log
  }

  /** Takes the replicas that are there now. */
  heard(others: readonly Replica[]): void {
    const known = this.#asked
    const there = others.filter(({ expired }) => !expired)
    this.#asked = new Set(there.map(nameOf))
    for (const replica of there) if (!known.has(nameOf(replica))) void this.#ask(replica)
  }

  async #ask(replica: Replica): Promise<void> {
    const why = await this.#cluster.check(replica)
    const { owner, address } = replica
    if (why !== undefined) this.#log.warn('requests cannot be sent on to a replica', { replica: owner, address, why })
  }
}

function nameOf({ owner, epoch }: Replica): string {
  return `${epoch} ${owner}`
}
