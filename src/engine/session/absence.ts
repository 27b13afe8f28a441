import type { HeardBy, LastTurn, SessionRecord } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import type { Turn } from '../turn/index.ts'

/** The session's record when it comes back, and the agent that has taken part in the session, if one has. */
export interface Return {
  record: SessionRecord
  heard: HeardBy | undefined
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

/** The absence of a session that another process has, as the session in memory knows it. */
export class Absence {
  readonly #others: OtherProcesses
  /** The newest turn, when another process has it and no turn has run here since. */
  #newest: LastTurn | undefined
  /** The last turn that ran here after that. */
  #known: Id | undefined

  constructor(others: OtherProcesses) {
    this.#others = others
  }

  /** True when another process has the session: what is kept here does not include the turns there. */
  get lasts(): boolean {
    return this.#newest !== undefined
  }

  /** The number of turns that run there as far as is known. */
  get turns(): number {
    return this.#newest?.ended === false ? 1 : 0
  }

  /** Notes that another process has the newest turn of the record. */
  note(last: LastTurn): void {
    if (last.turn !== this.#known) this.#newest = last
  }

  /**
   * Ends the absence for a turn, after the turns that began before it. Resolves without a result when the turn has its
   * end before that.
   */
  async end(turn: Turn): Promise<Return | undefined> {
    const noted = this.#newest
    const back = await this.#others.over(turn)
    if (!back) return undefined
    this.#known = noted?.turn
    if (this.#newest === noted) this.#newest = undefined
    return back
  }
}
