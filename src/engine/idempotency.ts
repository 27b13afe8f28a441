import { createHash } from 'node:crypto'
import type { Store, TurnRecord } from '../contract/index.ts'
import { type Command, type ErrorCode, type Id, isRetryable, type TurnStart, textOf } from '../model/index.ts'
import type { LiveTurns } from './live-turns.ts'
import { ownerAlive } from './owner.ts'
import type { Turn } from './turn.ts'

/** How long an answer may be given again, in milliseconds: an undelivered or failed one, and a success. */
const WINDOW_MS: Readonly<Record<'undelivered' | 'success' | 'never', number>> = {
  undelivered: 60_000,
  success: 600_000,
  never: 60_000,
}

const POLL_MS = 50
const RECORDED_MS = 500

/** What a request with an idempotency key gets. */
export type Verdict = { do: 'run' } | { do: 'join'; turn: Turn } | { do: 'replay'; turn: Id } | { do: 'refuse' }

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
   * Claims the key of a turn within its session. A duplicate of a running turn joins it, wherever it runs; of an ended
   * one it is answered from the record where the command's replay policy says so, else it runs. The same key with
   * another prompt is another request.
   */
  async claim(session: Id, command: Command & TurnStart): Promise<Verdict> {
    const { once } = command
    if (!once) return { do: 'run' }
    const body = digest(command)
    const key = `${session} ${once.key}`
    const found = await this.#store.claim(key, command.turn, body, this.#now(), once.ttlMs ?? WINDOW_MS[once.replay])
    if (found.state === 'new') return { do: 'run' }
    const live = this.#live.get(found.turn)
    const runs = live !== undefined && !live.ended
    if (found.body !== body && runs && once.other === 'refuse') return { do: 'refuse' }
    if (found.body === body) {
      if (runs) return { do: 'join', turn: live }
      if (await this.#replayable(found.turn, once.replay, command.options.totalMs)) {
        return { do: 'replay', turn: found.turn }
      }
    }
    await this.#store.reclaim(key, command.turn, body, this.#now())
    return { do: 'run' }
  }

  /** Waits for a turn that another process runs, then says whether its recorded answer is to be given again. */
  async #replayable(turn: Id, replay: 'undelivered' | 'success' | 'never', totalMs = 120_000): Promise<boolean> {
    const record = await this.#awaitEnd(turn, this.#now() + totalMs)
    if (!record?.outcome || replay === 'never') return false
    if (replay === 'success') return record.outcome === 'completed'
    if (record.outcome === 'completed') return !record.delivered
    // Who cancelled, and who was told that trying again may help, means to have it run.
    return record.outcome === 'failed' && record.code !== undefined && !isRetryable(record.code as ErrorCode)
  }

  /** The record once its turn has ended or nobody runs it any more; `until` bounds the wait (milliseconds since the epoch). */
  async #awaitEnd(turn: Id, until: number): Promise<TurnRecord | undefined> {
    // A claim is made a moment before its turn is recorded.
    const recordedBy = this.#now() + RECORDED_MS
    for (;;) {
      const record = await this.#store.readTurn(turn)
      const waits = record ? isRunning(record) && this.#now() < until : this.#now() < recordedBy
      if (!waits || this.#live.get(turn)?.ended === false) return record
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
}

/** True while somebody may still bring the turn to its end. */
function isRunning(record: TurnRecord | undefined): boolean {
  return record !== undefined && record.outcome === undefined && ownerAlive(record.owner)
}

/** A digest of what the request asks for. */
function digest(command: Command & TurnStart): string {
  const hash = createHash('sha256').update(textOf(command.input))
  hash.update(JSON.stringify([command.task, command.input.filter((part) => part.type !== 'text')]))
  return hash.digest('hex')
}
