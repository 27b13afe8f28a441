import type { Store, TurnRecord } from '../../contract/index.ts'
import {
  type Command,
  type ErrorCode,
  type Id,
  isRetryable,
  type Once,
  type TurnStart,
  textOf,
} from '../../model/index.ts'
import { digestOf, elapsed } from '../common/index.ts'
import type { LiveTurns } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import { isOfThisMachine, ownerAlive } from './owner.ts'

/** How long after its end an answer may be given again, in milliseconds: an undelivered or failed one, and a success. */
const WINDOW_MS: Readonly<Record<Once['replay'], number>> = {
  undelivered: 60_000,
  success: 600_000,
  never: 60_000,
}

/** How long a key stays claimed: longer than any turn runs and any answer is given again. */
const CLAIMED_MS = 7 * 86_400_000
/** How long a duplicate that names no limit of its own waits for the end of a turn that another process runs. */
const WAIT_MS = 120_000
const POLL_MS = 50
const RECORDED_MS = 500

/** What a request with an idempotency key gets. */
export type Verdict =
  | { do: 'run' }
  | { do: 'join'; turn: Turn }
  | { do: 'replay'; turn: Id }
  | { do: 'refuse' }
  /** Nobody waits for it any more. */
  | { do: 'stop' }

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
   * Claims the key of a turn within its session. A duplicate of a running turn joins it, wherever and however long it
   * runs; of an ended one it is answered from the record where the command's replay policy says so and its window is
   * open, else it runs. The same key with another prompt is another request. `unwanted` says that the client has
   * cancelled it, or is gone.
   */
  async claim(session: Id, command: Command & TurnStart, unwanted = () => false): Promise<Verdict> {
    const { once, turn } = command
    if (!once) return { do: 'run' }
    const body = digest(command)
    const key = keyOf(session, once, body)
    let found = await this.#store.claim(key, turn, body, this.#now(), CLAIMED_MS)
    while (found.state === 'held') {
      const same = found.body === body
      const verdict = await (same ? this.#duplicate(found.turn, command, unwanted) : this.#other(found.turn))
      if (verdict) return verdict
      // Of several that find it over one takes its place, and is found by the others.
      found = await this.#store.reclaim(key, turn, body, this.#now(), found.turn)
    }
    return { do: 'run' }
  }

  /** A turn that runs already does what the key was claimed for: duplicates get that one's answer. */
  async handOver(session: Id, command: Command & TurnStart, running: Id): Promise<void> {
    if (!command.once) return
    const body = digest(command)
    await this.#store.reclaim(keyOf(session, command.once, body), running, body, this.#now(), command.turn)
  }

  /** Gives back the key that was claimed for a turn which does not begin. */
  async giveUp(session: Id, command: Command & TurnStart): Promise<void> {
    if (command.once) await this.#store.release(keyOf(session, command.once, digest(command)))
  }

  /** What a duplicate of this turn gets; undefined: it runs. */
  async #duplicate(
    turn: Id,
    { once, options }: Command & TurnStart,
    unwanted: () => boolean,
  ): Promise<Verdict | undefined> {
    const record = await this.#awaitEnd(turn, elapsed() + (options.totalMs ?? WAIT_MS), unwanted)
    if (unwanted()) return { do: 'stop' }
    const live = this.#live.get(turn)
    if (live && !live.ended) return { do: 'join', turn: live }
    const { replay, ttlMs = WINDOW_MS[replay] } = once!
    // It takes longer than was waited for: what is recorded of it is shown. One of another machine may have died with it.
    if (isRunning(record) && isOfThisMachine(record!.owner)) return { do: 'replay', turn }
    if (!record?.outcome) return undefined
    // Of a turn that ended elsewhere or long ago only the machine's clock says when, which may have been set since.
    const since = this.#live.endedSince(turn) ?? this.#now() - (record.endedAt ?? record.startedAt)
    return since >= ttlMs || !isReplayable(record, replay) ? undefined : { do: 'replay', turn }
  }

  /** What another request under the key of this turn gets; undefined: it runs. */
  #other(turn: Id): Verdict | undefined {
    return this.#live.get(turn)?.ended === false ? { do: 'refuse' } : undefined
  }

  /** The record once its turn has ended or nobody runs it any more; `until` bounds the wait (as `elapsed` counts). */
  async #awaitEnd(turn: Id, until: number, unwanted: () => boolean): Promise<TurnRecord | undefined> {
    // A claim is made a moment before its turn is recorded.
    const recordedBy = elapsed() + RECORDED_MS
    for (;;) {
      const record = await this.#store.readTurn(turn)
      const waits = record ? isRunning(record) && elapsed() < until : elapsed() < recordedBy
      if (!waits || unwanted() || this.#live.get(turn)?.ended === false) return record
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
}

/** A key is one of its prompt as well, unless other prompts under it are refused while the first one runs. */
function keyOf(session: Id, { key, other }: Once, body: string): string {
  return other === 'refuse' ? `${session} ${key}` : `${session} ${key} ${body}`
}

/** Whether the recorded answer of an ended turn is given again. */
function isReplayable({ outcome, code, delivered }: TurnRecord, replay: Once['replay']): boolean {
  if (replay === 'never') return false
  if (replay === 'success') return outcome === 'completed'
  if (outcome === 'completed') return !delivered
  // Who cancelled, and who was told that trying again may help, means to have it run.
  return outcome === 'failed' && code !== undefined && !isRetryable(code as ErrorCode)
}

/** True while somebody may still bring the turn to its end. */
function isRunning(record: TurnRecord | undefined): boolean {
  return record !== undefined && record.outcome === undefined && ownerAlive(record.owner)
}

/** A digest of what the request asks for. */
function digest(command: Command & TurnStart): string {
  const others = command.input.filter((part) => part.type !== 'text')
  const { beside = '' } = command.once!
  return digestOf(textOf(command.input) + JSON.stringify([command.task, others]) + beside)
}
