import type { LastTurn, Store, TurnRecord } from '../../contract/index.ts'
import type { OtherProcesses, Return } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import type { Lease } from './lease.ts'
import { endIfLost } from './recovery.ts'

/** The interval at which the turns of other processes are looked up, in milliseconds. */
const POLL_MS = 100

/** The turns that other processes on the store run in the sessions of this one. */
export class Elsewhere implements OtherProcesses {
  readonly #store: Store
  readonly #lease: Lease
  readonly #now: () => number

  /** `now` is milliseconds since the epoch. */
  constructor(store: Store, lease: Lease, now: () => number) {
    this.#store = store
    this.#lease = lease
    this.#now = now
  }

  have({ owner }: LastTurn): boolean {
    return owner !== this.#lease.owner
  }

  async over(turn: Turn): Promise<Return | undefined> {
    const { id } = turn.session.record
    while (!turn.ended && (await this.#runBefore(turn, id)))
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    const record = turn.ended ? undefined : await this.#store.readSession(id)
    return record && { record, heard: await this.#store.heardBy(id) }
  }

  /**
   * True when one of them runs a turn of the session that began before this one. Turns of a process that has ended are
   * ended.
   */
  async #runBefore(turn: Turn, session: string): Promise<boolean> {
    for (const record of await this.#store.unfinishedTurns(session)) {
      if (record.owner === this.#lease.owner || !beganBefore(record, turn)) continue
      if (!(await endIfLost(this.#store, record, this.#now()))) return true
    }
    return false
  }
}

/** The order in which turns of different processes run: of their beginnings, then of their ids. */
function beganBefore(record: TurnRecord, { id, view }: Turn): boolean {
  return record.startedAt < view.startedAt || (record.startedAt === view.startedAt && record.turn < id)
}
