import type {
  Awaitable,
  LeaseRef,
  Replica,
  ReplicaInfo,
  SessionKey,
  SessionRecord,
  SharedStore,
  TurnRecord,
} from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { newId } from '../common/index.ts'
import { LAST_CALL_MS, type Lease } from './lease.ts'

/** Dependencies of `Replicas`. */
export interface ReplicasParts {
  store: SharedStore
  lease: Lease
  /** Receives each replica whose lease is over. */
  gone(replica: Replica): void
  /** Receives the reason why they could not be read. */
  failed?(error: unknown): void
  /** Receives the others each time that they were read. */
  heard?(others: readonly Replica[]): void
  /** Milliseconds since the epoch. */
  now(): number
}

/** The replicas on the store, and the sessions and turns that belong to this one. */
export class Replicas {
  readonly #parts: ReplicasParts
  #others: readonly Replica[] = []
  /** The leases under which this one has been announced: one that it has lost may be there for a while. */
  readonly #own = new Set<string>()
  #info: (() => ReplicaInfo) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: ReplicasParts) {
    this.#parts = parts
  }

  /** The others, as they were read last. */
  get others(): readonly Replica[] {
    return this.#others
  }

  /** The name of this one. */
  get owner(): string {
    return this.#parts.lease.owner
  }

  /** False when this one may be given up before it has renewed its lease: nothing should begin. */
  get safe(): boolean {
    return this.#parts.lease.safe
  }

  /** The running turn of a tenant whose client calls it so. */
  runningTurn(tenant: string, request: string): Awaitable<TurnRecord | undefined> {
    return this.#parts.store.replicas.runningTurn(tenant, request)
  }

  /** Announces this one from now on. */
  async join(info: () => ReplicaInfo): Promise<void> {
    this.#info = info
    await this.refresh()
    const { renewMs } = this.#parts.lease.times
    this.#timer = setInterval(
      () => void this.refresh().catch((error: unknown) => this.#parts.failed?.(error)),
      renewMs,
    ).unref()
  }

  /** Announces this one, and reads the others. */
  async refresh(): Promise<void> {
    const { lease, now } = this.#parts
    const shared = this.#parts.store.replicas
    const info = this.#info
    const before = this.#others
    if (lease.held) this.#own.add(nameOf(lease.held))
    const found = info && lease.held ? await shared.announce(lease.held, info(), now()) : await shared.replicas(now())
    this.#others = found.filter((other) => !this.#own.has(nameOf(other)))
    for (const other of before) if (!this.#others.some((one) => same(one, other))) this.#parts.gone(other)
    this.#parts.heard?.(this.#others)
    for (const one of found) if (one.expired && !this.isOwn(one)) await this.lapse(one)
  }

  /** True when this lease is that of this process. */
  isOwn({ owner, epoch }: LeaseRef): boolean {
    const { held } = this.#parts.lease
    return held?.owner === owner && held.epoch === epoch
  }

  /** The other replica that has this lease; undefined when none has, or it announces nothing. */
  find(ref: LeaseRef): Awaitable<Replica | undefined> {
    return this.known(ref) ?? this.refresh().then(() => this.known(ref))
  }

  /** The other replica that had this lease when they were read last. */
  known(ref: LeaseRef): Replica | undefined {
    return this.#others.find((other) => same(other, ref))
  }

  /** The one that takes sessions and has the most room for turns of an agent; undefined when none has the agent. */
  withMostRoom(agent: string): Replica | undefined {
    const room = ({ agents }: Replica): number => agents[agent] ?? 0
    const able = this.#others.filter((one) => !one.draining && !one.expired && agent in one.agents)
    return able.toSorted((one, other) => room(other) - room(one))[0]
  }

  /** The session of a key, taken for this process if it belongs to no other one. */
  async take(key: SessionKey): Promise<SessionRecord> {
    const { store, lease, now } = this.#parts
    return store.replicas.takeSession(key, newId(), await lease.hold(), now())
  }

  /** Gives a session up to the others. False when a turn of it is recorded as running, or it is not this one's. */
  async giveUp(session: Id): Promise<boolean> {
    const { store, lease } = this.#parts
    return lease.held !== undefined && (await store.replicas.giveUpSession(session, lease.held))
  }

  /** Ends a lease that has expired, after its process had a last chance to renew it. */
  async lapse(ref: LeaseRef): Promise<boolean> {
    const { store, now } = this.#parts
    return store.lapseLease(ref, now(), LAST_CALL_MS)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

function nameOf({ owner, epoch }: LeaseRef): string {
  return `${epoch} ${owner}`
}

function same(one: LeaseRef, other: LeaseRef): boolean {
  return one.owner === other.owner && one.epoch === other.epoch
}
