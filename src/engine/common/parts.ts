import type { Hooks, Replica, Store } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { EngineSettings } from './settings.ts'

/** Writes what operators should know. Never content. */
export interface EngineLog {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** The answer of a replica that is asked for a session: it has given it up, runs a turn of it, or did not answer. */
export type HandOver = 'given' | 'kept' | 'unreached'

/** The wires to other replicas. */
export interface Cluster {
  /** A process is given up when its lease was not renewed for this many milliseconds. */
  leaseMs: number
  /** Asks another replica to give up a session. */
  handOver(replica: Replica, session: Id): Promise<HandOver>
  /** A replica is given up: what is awaited from it does not come. */
  gone(replica: Replica): void
  /** Asks a replica whether requests can be sent on to it. Undefined when they can, else why they cannot. */
  check(replica: Replica): Promise<string | undefined>
}

/** Dependencies of the engine. `now` is milliseconds since the epoch. */
export interface EngineParts {
  settings: EngineSettings
  store: Store
  hooks: Hooks
  log: EngineLog
  now?: () => number
  /** Takes secrets out of what is kept of wires, as it is done for the log. */
  clean?: (text: string) => string
  /** The time that a streamed answer may be silent before its wire is kept alive, in milliseconds (15 s when absent). */
  keepAliveMs?: number
  /** The most that all turns that run may hold together, in UTF-16 units; absent: no limit. */
  mostHeld?: number
  /** Present where other processes on the store are replicas of this one. */
  cluster?: Cluster
}

/** The longest time for which a request waits for a replica that cannot be reached, in milliseconds. */
const LONGEST_WAIT_MS = 10_000
/** The time for which it is tried after its lease would have ended, in milliseconds. */
const PATIENCE_MS = 2000

/**
 * The time for which a request waits for a replica that cannot be reached, in milliseconds: until its lease would have
 * ended, so that another one has its session, but not for as long as a long lease.
 */
export function waitMs({ leaseMs }: Pick<Cluster, 'leaseMs'>): number {
  return Math.min(leaseMs + PATIENCE_MS, LONGEST_WAIT_MS)
}
