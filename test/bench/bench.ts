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

/** How long a load warms up a program of `limits/`, in milliseconds: these are small. */
const LIMIT_WARMING_MS = 1500

/** The servers of one run. */
export class Bench {
  amounts: Amounts
  /** In the round to warm up, what a load on a gateway does at least. */
  warming: Warming | undefined
  readonly workshop = new Workshop()
  readonly #started = new Map<string, Promise<unknown>>()
  readonly #stops: (() => Promise<void>)[] = []
  /** The process ids of programs of `limits/`. */
  readonly #limits = new Set<number>()
  /** What has been warmed up. */
  readonly #warm = new Set<string>()

  constructor(amounts: Amounts) {
    this.amounts = amounts
  }

  /**
   * The length of a load of a kind on a server, so many at once. While gateways warm up, the first load of several at once
   * is for all such widths; one at a time, whose reads bring fewer events, is for itself. `further` is true when another
   * kind has warmed up most of what this one runs.
   */
  lengthFor({ pid }: Server, kind: string, width: number, further = false): LoadLength {
    const { ms } = this.amounts
    if (!this.warming) return { ms }
    if (this.#limits.has(pid)) return { ms: Math.max(LIMIT_WARMING_MS, ms) }
    const what = `${pid} ${kind} ${width === 1}`
    if (this.#warm.has(what)) return { ms }
    this.#warm.add(what)
    const least = Math.max(this.warming.ms, ms)
    return width === 1 || further ? { ms: least } : { ...this.warming, ms: least }
  }

  /** A program of `limits/` that says its port. */
  server(name: string, path: string, args: readonly string[] = []): Promise<Server> {
    return this.once(name, async () => {
      const running = program(path, args)
      this.#stops.push(() => running.stop())
      this.#limits.add(running.child.pid!)
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
