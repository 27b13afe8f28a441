import type { SessionKey } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { AgentPool } from '../agent/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { LiveSession } from './live-session.ts'

/** The sessions in memory. */
export class LiveSessions {
  readonly #byId = new Map<Id, LiveSession>()
  readonly #byKey = new Map<string, LiveSession>()

  add(session: LiveSession): void {
    this.#byId.set(session.record.id, session)
    this.#byKey.set(keyText(session.record), session)
  }

  get(id: Id): LiveSession | undefined {
    return this.#byId.get(id)
  }

  /** Forgets a session; one that has taken its place stays. */
  delete(session: LiveSession): void {
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
function keyText({ tenant, agent, session, conversation }: SessionKey): string {
  return `${tenant.length} ${agent.length} ${session.length} ${tenant}${agent}${session}${conversation}`
}
