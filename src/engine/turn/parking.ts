import type { Ask } from '../../model/index.ts'
import { randomId } from '../common/index.ts'
import type { Turn } from './turn.ts'
import type { Park } from './turn-peers.ts'

/** Random bytes of a token, which nobody can guess. */
const TOKEN_BYTES = 18

/** The parks of a turn: while its questions can only be answered by a client's next request, it waits under a token. */
export class Parking {
  readonly #turn: Turn
  readonly #asks: ReadonlyMap<string, { ask: Ask }>
  #pending = false
  #continuation: string | undefined
  #seq = 0

  /** `asks` are the open questions of the turn. */
  constructor(turn: Turn, asks: ReadonlyMap<string, { ask: Ask }>) {
    this.#turn = turn
    this.#asks = asks
  }

  /** The park that the turn is in. */
  get current(): Park | undefined {
    if (this.#continuation === undefined) return undefined
    return { continuation: this.#continuation, seq: this.#seq, asks: this.#open }
  }

  /** True while the turn is parked. */
  get on(): boolean {
    return this.#continuation !== undefined
  }

  /** Parks the turn, under a new token: at the end of this step, so that several questions at once park it once. */
  begin(): void {
    if (this.#pending) return
    this.#pending = true
    queueMicrotask(() => {
      this.#pending = false
      if (this.#asks.size > 0) this.#park()
    })
  }

  /** The turn goes on. */
  end(): void {
    this.#continuation = undefined
  }

  get #open(): Ask[] {
    return [...this.#asks.values()].map(({ ask }) => ask)
  }

  #park(): void {
    const { id: turn, scope } = this.#turn
    const asks = this.#open
    const continuation = `${turn}.${randomId(TOKEN_BYTES)}`
    this.#continuation = continuation
    scope.note('parked')
    const deadline = Math.min(...asks.map((ask) => ask.deadline!))
    this.#seq = this.#turn.take({ type: 'turn-parked', turn, asks, continuation, deadline })
  }
}
