import type { Id, Target } from '../model/index.ts'
import type { LiveSession } from './live-session.ts'
import type { Turn } from './turn.ts'

/** The turns that run or wait, and the session that each of them is in. */
export class LiveTurns {
  readonly #sessionOf = new Map<Turn, LiveSession>()
  readonly #byId = new Map<Id, Turn>()
  readonly #idle: (() => void)[] = []

  get size(): number {
    return this.#byId.size
  }

  add(turn: Turn, session: LiveSession): void {
    this.#byId.set(turn.id, turn)
    this.#sessionOf.set(turn, session)
  }

  /** Forgets a turn that has its end; gives the session it was in. */
  delete(turn: Turn): LiveSession | undefined {
    const session = this.#sessionOf.get(turn)
    this.#sessionOf.delete(turn)
    this.#byId.delete(turn.id)
    if (this.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
    return session
  }

  get(id: Id): Turn | undefined {
    return this.#byId.get(id)
  }

  sessionOf(turn: Turn): LiveSession | undefined {
    return this.#sessionOf.get(turn)
  }

  /** The oldest first. */
  values(): Turn[] {
    return [...this.#byId.values()]
  }

  /** How many turns of a tenant there are. */
  countOf(tenant: string): number {
    return this.values().filter((turn) => this.#sessionOf.get(turn)?.record.tenant === tenant).length
  }

  /** The turn of a tenant that a target means, whichever wire started it. */
  find(tenant: string, target: Target): Turn | undefined {
    if (target === 'running') return undefined
    return this.values().find((turn) => {
      if (this.#sessionOf.get(turn)?.record.tenant !== tenant) return false
      if ('turn' in target) return turn.id === target.turn
      if ('continuation' in target) return turn.parked?.continuation === target.continuation
      return turn.command.request === target.request
    })
  }

  /** Resolves when no turn runs, or after `ms` milliseconds. */
  untilIdle(ms: number): Promise<void> {
    if (this.size === 0 || ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#idle.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
