import type { Fault, Id, Target } from '../../model/index.ts'
import { elapsed, LOST } from '../common/index.ts'
import type { Turn } from '../turn/index.ts'
import { EndedTurns } from './ended-turns.ts'

/**
 * The time for which a gateway that stops waits for the next requests of clients, when nothing but turns that wait for one
 * is left, in milliseconds: programs answer within it, people do not. And the interval at which that is looked at.
 */
const ANSWERED_MS = 5000
const LOOK_MS = 250

/**
 * The turns that run or wait. Not a `Map`: when V8 replaces its table, the old table keeps a reference to the new one.
 * Once a table is in the old generation, everything that passes through its successors, turns with all that they hold,
 * is garbage that only a full collection frees.
 */
export class LiveTurns {
  readonly #byId: Record<Id, Turn> = Object.create(null)
  #size = 0
  /** The number of requests that have their session, and may begin a turn in it. */
  coming = 0
  readonly #idle: (() => void)[] = []
  readonly #ended = new EndedTurns()
  /** When a turn was last seen at work since the gateway stops. */
  #workedAt: number | undefined

  get size(): number {
    return this.#size
  }

  /** True while turns run or wait, or may be about to. */
  get busy(): boolean {
    return this.#size > 0 || this.coming > 0
  }

  add(turn: Turn): void {
    // `in` is slow for a text that V8 has not seen as a key before.
    if (this.#byId[turn.id] === undefined) this.#size += 1
    this.#byId[turn.id] = turn
  }

  /** Forgets a turn that has its end. */
  delete(turn: Turn): void {
    if (turn.id in this.#byId) this.#size -= 1
    delete this.#byId[turn.id]
    if (turn.command.once) this.#ended.add(turn.id)
    if (this.#size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Ends those that have begun, with this fault. */
  refuse(why: Fault): void {
    for (const turn of this.values()) if (turn.view.seq > 0) turn.refuse(why)
  }

  get(id: Id): Turn | undefined {
    return this.#byId[id]
  }

  /** The milliseconds since a turn with an idempotency key ended here; undefined when that is long ago. */
  endedSince(id: Id): number | undefined {
    return this.#ended.since(id)
  }

  /** The oldest first. */
  values(): Turn[] {
    return Object.values(this.#byId)
  }

  /** The number of a tenant's turns. */
  countOf(tenant: string): number {
    return this.values().filter(({ session }) => session.record.tenant === tenant).length
  }

  /**
   * The turn of a tenant that a target names, whichever wire started it. Clients choose the ids of requests themselves:
   * of several turns with the same id it is the one of the `session`, else none.
   */
  find(tenant: string, target: Target, session?: string): Turn | undefined {
    if (target === 'running') return undefined
    const meant = this.values().filter((turn) => {
      if (turn.session.record.tenant !== tenant) return false
      if ('turn' in target) return turn.id === target.turn
      if ('continuation' in target) return turn.questions?.parked?.continuation === target.continuation
      return turn.command.request === target.request
    })
    const [only, ...others] = meant.length > 1 ? meant.filter(({ view }) => view.session === session) : meant
    return others.length === 0 ? only : undefined
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

  /**
   * As `untilIdle`, at a gateway that stops. When all that is left waits for a client's next request, which may never
   * come, that is ended a little later, else at the end of the time: the request begins it anew at the next gateway.
   */
  async untilDone(ms: number): Promise<void> {
    const until = elapsed() + ms
    this.#workedAt ??= elapsed()
    for (let now = elapsed(); this.#size > 0 && now < until; now = elapsed()) {
      if (!this.#onlyParked) this.#workedAt = now
      else if (now >= this.#workedAt + ANSWERED_MS) this.#endParked()
      await this.untilIdle(Math.min(LOOK_MS, until - now))
    }
    this.#endParked()
  }

  #endParked(): void {
    for (const turn of this.#parked) turn.refuse(LOST)
  }

  get #parked(): Turn[] {
    return this.values().filter(({ questions }) => questions?.parked)
  }

  /** True when no turn works: each is parked, or waits in line. */
  get #onlyParked(): boolean {
    return this.#parked.length > 0 && this.values().every(({ questions, link }) => questions?.parked || !link)
  }
}
