import { isShared, type Store, type TurnRecord } from '../../contract/index.ts'
import { type Command, type ErrorCode, type Id, isRetryable, type Once, type TurnStart } from '../../model/index.ts'
import { elapsed } from '../common/index.ts'
import { numbered } from '../events/index.ts'
import type { LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import { type Attempt, repeatedBy } from './attempts.ts'
import { fingerprint } from './fingerprint.ts'
import { readTurn } from './recovery.ts'

/** The time after its end in which an answer may be given again, in milliseconds. */
const WINDOW_MS: Readonly<Record<Once['replay'], number>> = {
  undelivered: 60_000,
  success: 600_000,
  never: 60_000,
}

/** The time that a key stays claimed: longer than any turn runs and any answer is given again. */
const CLAIMED_MS = 7 * 86_400_000
/** The time that a duplicate without a limit of its own waits for the end of a turn that another process runs. */
const WAIT_MS = 120_000
const POLL_MS = 50
/**
 * The time within which a claim is followed by the record of its turn, in a store of this machine and in one that is
 * shared, in milliseconds. A request that waits longer takes the key over. If the turn begins after all, it is refused.
 */
const RECORDED_MS = 500
const RECORDED_ELSEWHERE_MS = 5000

/** A request under a key. `scope` is whose key it is, `agent` which agent it is given to. */
export interface Keyed {
  scope: string
  agent: string
  command: Command & TurnStart
}

/** The verdict on a request with an idempotency key. */
export type Verdict =
  | { do: 'run' }
  | { do: 'join'; turn: Turn }
  | { do: 'replay'; turn: Id }
  | { do: 'refuse' }
  /** Nobody waits for it any more. */
  | { do: 'stop' }

/** Receives a running turn of another process. */
export type Elsewhere = (record: TurnRecord) => Promise<void>

/** The claims on idempotency keys: one run per key at a time, across processes that share the store. */
export class Idempotency {
  readonly #store: Store
  readonly #now: () => number
  readonly #live: LiveTurns

  constructor(store: Store, now: () => number, live: LiveTurns) {
    this.#store = store
    this.#now = now
    this.#live = live
  }

  /**
   * Claims the key of a request within its scope. A duplicate of a running turn joins it, wherever and however long it
   * runs; of an ended one it is answered from the record where the command's replay policy says so and its window is
   * open, else it runs. Another request under the key is refused while the first one runs, and until its window closes
   * unless the key is held only while the turn runs; then it takes the key. `unwanted` is true when the client has
   * cancelled it or has left. `elsewhere` is called once if another process runs the turn that holds the key.
   */
  async claim({ scope, agent, command }: Keyed, unwanted = () => false, elsewhere?: Elsewhere): Promise<Verdict> {
    const { once, turn } = command
    if (!once) return { do: 'run' }
    const body = fingerprint(command, agent)
    const key = keyOf(scope, once)
    let found = await this.#store.claim(key, turn, body, this.#now(), CLAIMED_MS)
    while (found.state === 'held') {
      const same = found.body === body
      const record = same
        ? await this.#awaitEnd(found.turn, elapsed() + (command.options.totalMs ?? WAIT_MS), unwanted, elsewhere)
        : await this.#awaitEnd(found.turn, 0, () => false)
      if (same && unwanted()) return { do: 'stop' }
      const verdict = same ? await this.#duplicate(found.turn, once, record) : this.#other(found.turn, once, record)
      if (verdict) return verdict
      // One of several that find the claim free takes it; the others find that one. So does one that has waited for a
      // turn which began and ended just then.
      const holder = { turn: found.turn, ended: record !== undefined }
      found = await this.#store.reclaim(key, turn, body, this.#now(), holder)
    }
    return { do: 'run' }
  }

  /** The verdict on a request without a key that its client repeats by itself: it joins the first one while that runs. */
  attempt(attempt: Attempt): Verdict {
    const turn = repeatedBy(attempt, this.#live)
    return turn ? { do: 'join', turn } : { do: 'run' }
  }

  /** A turn that already runs does the work of the key: duplicates get its answer. */
  async handOver({ scope, agent, command }: Keyed, running: Id): Promise<void> {
    if (!command.once) return
    const body = fingerprint(command, agent)
    await this.#store.reclaim(keyOf(scope, command.once), running, body, this.#now(), {
      turn: command.turn,
      ended: false,
    })
  }

  /** Gives back the key that was claimed for a turn which does not begin. */
  async giveUp({ scope, command }: Keyed): Promise<void> {
    if (command.once) await this.#store.release(keyOf(scope, command.once), command.turn)
  }

  /** The verdict on a duplicate of this turn, of which this is the record; undefined: it runs. */
  async #duplicate(turn: Id, once: Once, record: TurnRecord | undefined): Promise<Verdict | undefined> {
    const live = this.#live.get(turn)
    if (live && !live.ended) return { do: 'join', turn: live }
    if (!record) return undefined
    // The wait is over and the turn still runs: its record so far is shown.
    const shown = record.outcome === undefined || (this.#isOpen(record, once) && (await this.#replays(record, once)))
    return shown ? { do: 'replay', turn } : undefined
  }

  /** The verdict on another request under the key of this turn; undefined: it runs. */
  #other(turn: Id, once: Once, record: TurnRecord | undefined): Verdict | undefined {
    if (this.#live.get(turn)?.ended === false || (record && record.outcome === undefined)) return { do: 'refuse' }
    const forgets = once.holds === 'running' || once.replay === 'never' || !record
    return forgets || !this.#isOpen(record, once) ? undefined : { do: 'refuse' }
  }

  /** True when the recorded answer of an ended turn is given again. */
  async #replays({ turn, outcome, code, delivered }: TurnRecord, { replay }: Once): Promise<boolean> {
    if (replay === 'never') return false
    if (replay === 'success') return outcome === 'completed'
    if (outcome === 'completed') return !delivered
    // A client that cancelled, or was told to try again, wants a new run.
    if (outcome !== 'failed' || code === undefined || isRetryable(code as ErrorCode)) return false
    const said = numbered(await this.#store.readEvents(turn, 0), 0).at(-1)?.event
    return !(said?.type === 'turn-end' && said.fault?.retryable)
  }

  /** True while the answer of an ended turn may be given again. */
  #isOpen({ turn, startedAt, endedAt = startedAt }: TurnRecord, { replay, ttlMs = WINDOW_MS[replay] }: Once): boolean {
    // For a turn that ended elsewhere or long ago there is only the machine's clock, which may have been set since.
    return (this.#live.endedSince(turn) ?? this.#now() - endedAt) < ttlMs
  }

  /** The record once its turn has ended; `until` bounds the wait (as `elapsed` counts). */
  async #awaitEnd(
    turn: Id,
    until: number,
    unwanted: () => boolean,
    elsewhere?: Elsewhere,
  ): Promise<TurnRecord | undefined> {
    let heard = false
    // A claim is made a moment before its turn is recorded.
    const recordedBy = elapsed() + (isShared(this.#store) ? RECORDED_ELSEWHERE_MS : RECORDED_MS)
    for (;;) {
      const record = await readTurn(this.#store, turn, this.#now())
      const waits = record ? record.outcome === undefined && elapsed() < until : elapsed() < recordedBy
      if (!waits || unwanted() || this.#live.get(turn)?.ended === false) return record
      if (record && elsewhere && !heard) {
        heard = true
        await elsewhere(record)
        if (unwanted()) return record
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
}

/** The key of a request within its scope, as it is claimed. */
export function keyOf(scope: string, { key }: Once): string {
  return JSON.stringify([scope, key])
}
