/** What all lines of the table have: the servers that are measured, started when a line first needs them. */
import { type Gateway, type GatewayOptions, Workshop } from './gateway.ts'
import type { LoadLength } from './load.ts'
import { program } from './processes.ts'
import type { LineInfo, Sample } from './table.ts'

/** How much is done. */
export interface Amounts {
  /** How long a load goes on, in milliseconds. */
  ms: number
  /** Repetitions of what is timed one by one. */
  times: number
  /** The size of growth and memory lines, 1 for all of it. */
  scale: number
  /** The most agents at once of live streams; no limit when absent. */
  widest?: number
}

/** The length of a load that warms up: so many milliseconds at least, and then until its turns are as many. */
export type Warming = Required<LoadLength>

/** A server that is compared with. */
export interface Server {
  port: number
  pid: number
}

/** One group of lines that are measured together. */
export interface Group {
  name: string
  lines: readonly LineInfo[]
  /** One round: a sample for each line, by name. */
  round(bench: Bench): Promise<Readonly<Record<string, Sample>>>
  /** Measured once, not in every round. */
  once?: true
  /** Begins with the round to warm up what takes long to make; it is waited for before the others. */
  prepare?(bench: Bench): Promise<void>
}

/** The widths of loads that warm up. */
const WARMING_WIDTHS: readonly number[] = [1, 8, 32]

/** The servers of one run. */
export class Bench {
  amounts: Amounts
  /** In the round to warm up, what a load of middling width does at least. */
  warming: Warming | undefined
  readonly workshop = new Workshop()
  readonly #started = new Map<string, Promise<unknown>>()
  readonly #stops: (() => Promise<void>)[] = []

  constructor(amounts: Amounts) {
    this.amounts = amounts
  }

  /**
   * The length of a load of so many at once. One width of each path warms up for all of them, but one at a time, whose
   * reads bring fewer events, for itself.
   */
  lengthFor(width: number): LoadLength {
    if (!this.warming || !WARMING_WIDTHS.includes(width)) return { ms: this.amounts.ms }
    const ms = Math.max(this.warming.ms, this.amounts.ms)
    return width === 1 ? { ms } : { ...this.warming, ms }
  }

  /** A program of `limits/` that says its port. */
  server(name: string, path: string, args: readonly string[] = []): Promise<Server> {
    return this.once(name, async () => {
      const running = program(path, args)
      this.#stops.push(() => running.stop())
      return { port: Number(await running.line()), pid: running.child.pid! }
    })
  }

  /** A gateway that is kept for all rounds. */
  gateway(name: string, options: GatewayOptions = {}): Promise<Gateway> {
    return this.once(name, async () => {
      const gateway = await this.workshop.gateway(options)
      this.#stops.push(() => gateway.stop())
      return gateway
    })
  }

  /** A configuration that no gateway runs on. */
  alone(): Promise<string> {
    return this.once('alone', async () => this.workshop.config())
  }

  /** Ends something when the run ends. */
  onClose(stop: () => Promise<void>): void {
    this.#stops.push(stop)
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()))
    this.workshop.clean()
  }

  /** Makes something the first time that it is asked for. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#started.get(name) as Promise<T> | undefined
    if (known) return known
    const made = make()
    this.#started.set(name, made)
    return made
  }
}
