import type { SessionKey } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { AgentPool } from '../agent/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { LiveSession, SessionShelf } from './live-session.ts'

/**
 * The number of sessions without work and without a process that stay in memory. The next turn of another one reads its
 * record.
 */
export const MAX_RESTING = 1000

/** The sessions in memory. */
export class LiveSessions implements SessionShelf {
  readonly #byId = new Map<Id, LiveSession>()
  readonly #byKey = new Map<string, LiveSession>()
  /** Those that may leave: the one that has rested for longest comes first. */
  readonly #resting = new Set<LiveSession>()

  add(session: LiveSession): void {
    this.#byId.set(session.record.id, session)
    this.#byKey.set(keyText(session.record), session)
  }

  get(id: Id): LiveSession | undefined {
    return this.#byId.get(id)
  }

  mayLeave(session: LiveSession): void {
    // Its process may end after it has left.
    if (this.#byId.get(session.record.id) !== session) return
    this.#resting.delete(session)
    this.#resting.add(session)
    if (this.#resting.size <= MAX_RESTING) return
    const [oldest] = this.#resting
    oldest!.close()
  }

  stays(session: LiveSession): void {
    this.#resting.delete(session)
  }

  /** Forgets a session; one that has taken its place stays. */
  delete(session: LiveSession): void {
    this.#resting.delete(session)
    const { id } = session.record
    if (this.#byId.get(id) === session) this.#byId.delete(id)
    const key = keyText(session.record)
    if (this.#byKey.get(key) === session) this.#byKey.delete(key)
  }

  /** All of them. */
  values(): Iterable<LiveSession> {
    return this.#byId.values()
  }

  /** The session with this key. */
  find(key: SessionKey): LiveSession | undefined {
    return this.#byKey.get(keyText(key))
  }

  /** A session of the agent whose process is ready and has no turn. */
  idleOf(agent: AgentSettings): LiveSession | undefined {
    for (const session of this.#byId.values()) {
      const { link } = session
      if (session.pool.agent === agent && !session.occupied && link?.persistent && link.ready) return session
    }
    return undefined
  }

  /** The number of sessions of a pool whose process is idle. */
  idleIn(pool: AgentPool): number {
    let count = 0
    for (const session of this.#byId.values()) {
      if (session.pool === pool && !session.occupied && session.link?.persistent) count += 1
    }
    return count
  }

  /** Gives up the process of the pool's session that has been idle for longest; false when there is none. */
  evictIdle(pool: AgentPool): boolean {
    let oldest: LiveSession | undefined
    for (const session of this.#byId.values()) {
      if (session.occupied || session.pool !== pool || !session.link?.persistent) continue
      if (!oldest || session.idleSince < oldest.idleSince) oldest = session
    }
    oldest?.release()
    return oldest !== undefined
  }
}

/** A key as one text. The lengths tell where each of its texts ends, whatever clients have written in them. */
export function keyText({ tenant, agent, session, conversation }: SessionKey): string {
  return `${tenant.length} ${agent.length} ${session.length} ${tenant}${agent}${session}${conversation}`
}
