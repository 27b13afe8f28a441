import type { SessionKey, SessionRecord } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { AgentPool } from '../agent/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { LiveSession } from './live-session.ts'

/** The sessions in memory. */
export class LiveSessions {
  readonly #byId = new Map<Id, LiveSession>()

  add(session: LiveSession): void {
    this.#byId.set(session.record.id, session)
  }

  get(id: Id): LiveSession | undefined {
    return this.#byId.get(id)
  }

  /** Forgets a session; one that has taken its place stays. */
  delete(session: LiveSession): void {
    const { id } = session.record
    if (this.#byId.get(id) === session) this.#byId.delete(id)
  }

  /** All of them. */
  values(): Iterable<LiveSession> {
    return this.#byId.values()
  }

  /** The record of the session with this key. */
  find({ tenant, agent, session, conversation }: SessionKey): SessionRecord | undefined {
    for (const { record } of this.#byId.values()) {
      const same = record.tenant === tenant && record.agent === agent && record.session === session
      if (same && record.conversation === conversation) return record
    }
    return undefined
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
