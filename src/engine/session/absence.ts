import type { LastTurn, SessionRecord } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { Turn } from '../turn/index.ts'

/** The session's record when it comes back, and whether an agent has taken part in the session. */
export interface Return {
  record: SessionRecord
  used: boolean
}

/** The other processes that run turns of the same sessions. */
export interface OtherProcesses {
  /** True when one of them runs the turn, or has run it. */
  have(turn: LastTurn): boolean
  /**
   * Resolves when none of them runs a turn of the session that began before this one; without a result when this one has
   * its end before that.
   */
  over(turn: Turn): Promise<Return | undefined>
}

/** The time for which a session is in another process, as its session in memory knows of it. */
export class Absence {
  readonly #others: OtherProcesses
  /** The newest turn, when another process has it and no turn has run here since. */
  #newest: LastTurn | undefined
  /** The last one that ran here after that. */
  #known: Id | undefined

  constructor(others: OtherProcesses) {
    this.#others = others
  }

  /** True when another process has the session: what is kept here has not heard what was said there. */
  get lasts(): boolean {
    return this.#newest !== undefined
  }

  /** The number of turns that are known to run there. */
  get turns(): number {
    return this.#newest?.ended === false ? 1 : 0
  }

  /** Takes the newest turn of the record, which another process has. */
  note(last: LastTurn): void {
    if (last.turn !== this.#known) this.#newest = last
  }

  /** Ends it for a turn, after those that began before it. Without a result when the turn has its end before that. */
  async end(turn: Turn): Promise<Return | undefined> {
    const noted = this.#newest
    const back = await this.#others.over(turn)
    if (!back) return undefined
    this.#known = noted?.turn
    if (this.#newest === noted) this.#newest = undefined
    return back
  }
}
