import type { Row } from '../rows.ts'
import { type Connection, type Connector, isLost, isPassing } from './connection.ts'

/** The pauses between two attempts, in milliseconds. */
const PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

/** The most statements that travel together. */
const GROUP = 512

/** The rows of each statement. */
export type Results = readonly (readonly Row[])[]

/** The way in which work is done. */
export interface Way {
  /** It is tried only once. */
  once?: true
  /**
   * Names the row that it locks and other gateways lock too. Nothing that is given while it waits may depend on it: it is
   * done after all that goes with it, in the order of these names, so that no two gateways wait for each other.
   */
  shares?: string
}

/** Statements of which all are done or none, and who waits for them. */
interface Work {
  readonly statements: readonly string[]
  /** Names the row that it locks and other gateways lock too; absent when there is none. */
  readonly shares: string | undefined
  /** `performance.now()` from which it is not tried again; 0 when it is tried once. */
  readonly until: number
  readonly resolve: (results: Results) => void
  readonly reject: (error: unknown) => void
}

/**
 * Runs statements on one connection, in the order in which they are given. What is given while others run goes to the
 * server together, in one message and one transaction: a commit serves all that is ready.
 *
 * Work is done again when the connection was lost, even if the server may have done it: statements must allow that.
 */
export class Lane {
  readonly #connect: Connector
  readonly #patienceMs: number
  #connection: Connection | undefined
  #waiting: Work[] = []
  /** The work that was given last and shares nothing: all the rest is done before it. */
  #last: Promise<unknown> | undefined
  /** Ends when nothing waits. */
  #running: Promise<void> | undefined
  /** The patience with the server ran out. Nothing is tried again, also of what waits, until something has succeeded. */
  #gaveUp = false

  /**
   * `first` is a connection to begin with; `patienceMs` is how long work is tried again that a lost connection or another
   * process has stopped, in milliseconds.
   */
  constructor(connect: Connector, first: Connection, patienceMs: number) {
    this.#connect = connect
    this.#patienceMs = patienceMs
    this.#connection = first
  }

  /** The rows of the statements, in a transaction that other work may share. */
  run(statements: readonly string[], { once, shares }: Way = {}): Promise<Results> {
    const done = new Promise<Results>((resolve, reject) => {
      const until = once || this.#gaveUp ? 0 : performance.now() + this.#patienceMs
      this.#waiting.push({ statements, shares, until, resolve, reject })
      this.#running ??= this.#drain()
    })
    // Those who share wait for it themselves: it may be done after what is given later.
    if (shares === undefined) this.#last = done
    return done
  }

  /** Resolves when everything given so far is done, or was tried; what is given later is not waited for. */
  async settled(): Promise<void> {
    await this.#last?.catch(() => {})
  }

  /** Ends the connection when everything given so far is done. */
  async close(): Promise<void> {
    while (this.#running) await this.#running
    await this.#connection?.end()
    this.#connection = undefined
  }

  async #drain(): Promise<void> {
    // Further work of this tick goes with it.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) await this.#runGroup(this.#take())
    this.#running = undefined
  }

  /** Takes the work that goes together: all that waits, up to a number of statements. */
  #take(): Work[] {
    let count = 0
    let statements = 0
    for (const work of this.#waiting) {
      statements += work.statements.length
      if (count > 0 && statements > GROUP) break
      count += 1
    }
    return inOrder(this.#waiting.splice(0, count))
  }

  async #runGroup(group: readonly Work[]): Promise<void> {
    try {
      const results = (await this.#attempts(group)).values()
      for (const { statements, resolve } of group) resolve(statements.map(() => results.next().value!))
    } catch (error) {
      // One of them may be at fault; the others are done all the same.
      if (group.length > 1 && !isLost(error)) for (const work of group) await this.#runGroup([work])
      else for (const { reject } of group) reject(error)
    }
  }

  async #attempts(group: readonly Work[]): Promise<Results> {
    const statements = group.flatMap((work) => work.statements)
    const until = Math.max(...group.map((work) => work.until))
    for (let pause = PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const results = await (await this.#open()).transaction(statements)
        this.#gaveUp = false
        return results
      } catch (error) {
        if (!isPassing(error)) throw error
        // Work that is tried once, such as a probe, says nothing of the patience of the rest.
        if (until > 0 && performance.now() >= until) this.#gaveUp = true
        if (until === 0 || this.#gaveUp) throw error
        await new Promise((resolve) => setTimeout(resolve, pause * Math.random()))
      }
    }
  }

  async #open(): Promise<Connection> {
    if (!this.#connection?.usable) this.#connection = await this.#connect()
    return this.#connection
  }
}

/** Work that takes locks which others take too comes last, in one order at all gateways. */
function inOrder(group: readonly Work[]): Work[] {
  const own = group.filter(({ shares }) => shares === undefined)
  const shared = group.filter(({ shares }) => shares !== undefined)
  return [
    ...own,
    ...shared.sort((one, other) => (one.shares! < other.shares! ? -1 : Number(one.shares !== other.shares))),
  ]
}
