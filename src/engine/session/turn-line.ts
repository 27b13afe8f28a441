import { type Fault, fault } from '../../model/index.ts'
import type { AgentPool } from '../agent/index.ts'
import type { Turn } from '../turn/index.ts'

/** Takes the turns of a line, one at a time. */
export interface TurnServer {
  /** Runs a turn on a link of the pool; resolves when its agent is done with it. */
  serve(turn: Turn, pool: AgentPool): Promise<void>
  /** The line is empty. */
  rest(): void
}

interface Place {
  turn: Turn
  pool: AgentPool
  ready: boolean
}

/** The turns of one session: one runs, the others wait in the order in which they came. */
export class TurnLine {
  readonly #server: TurnServer
  readonly #waiting: Place[] = []
  #running: Turn | undefined

  constructor(server: TurnServer) {
    this.#server = server
  }

  /** The turn that runs, or whose agent is still exiting after its end. */
  get running(): Turn | undefined {
    return this.#running
  }

  /** The number of turns without an end. */
  get length(): number {
    return this.#waiting.length + (this.#running?.ended === false ? 1 : 0)
  }

  /** The fault of a turn that cannot wait in this line, because `limit` turns wait already; `more` of them elsewhere. */
  refusal(limit: number, more = 0): Fault | undefined {
    if (this.length + more <= limit) return undefined
    if (limit === 0) return fault('session-busy', 'A turn of this session runs; try again when it is done.')
    const waiting = limit === 1 ? 'A turn waits' : `${limit} turns wait`
    return fault('session-busy', `${waiting} for this session already; try again later.`)
  }

  /** Gives a turn the last place, for a link of this pool. It does not run before it is ready. */
  enqueue(turn: Turn, pool: AgentPool): void {
    this.#waiting.push({ turn, pool, ready: false })
  }

  /** Lets a turn run: now, or when those before it are done. */
  ready(turn: Turn): void {
    const place = this.#waiting.find((one) => one.turn === turn)
    if (place) place.ready = true
    this.#next()
  }

  /** Removes a turn that does not run. */
  remove(turn: Turn): void {
    const at = this.#waiting.findIndex((one) => one.turn === turn)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    this.#next()
  }

  /** Runs the first turn, when none runs and it is ready. */
  #next(): void {
    if (this.#running) return
    const [first] = this.#waiting
    if (!first) this.#server.rest()
    else if (first.ready) void this.#run(first)
  }

  async #run({ turn, pool }: Place): Promise<void> {
    this.#waiting.shift()
    this.#running = turn
    try {
      await this.#server.serve(turn, pool)
    } catch (error) {
      turn.fail(fault('internal', `The turn was stopped by an internal error (${String(error)}).`))
    }
    this.#running = undefined
    this.#next()
  }
}
