/**
 * The metrics of this process: counters, gauges and histograms by name and labels. No clock, no library, and bounded:
 * values beyond the limit of series are counted in one overflow series.
 */

/** The kind of an instrument: `counter` only grows, `updown` goes both ways, `gauge` is read on demand. */
export type InstrumentKind = 'counter' | 'updown' | 'gauge' | 'histogram'

/** The declaration of one metric. */
export interface Instrument {
  readonly name: string
  readonly kind: InstrumentKind
  /** In UCUM: `s`, `By`, or the counted thing in braces. */
  readonly unit: string
  /** One sentence for people. */
  readonly help: string
  /** The names of its labels, in the order of their values in `Metric.of`. */
  readonly labels: readonly string[]
}

/** Labels of one series; a label that does not apply is absent. */
export type Labels = Readonly<Record<string, string>>

/** The limit of series of one metric; further ones are counted together. */
export const MAX_SERIES = 500

/** The label of the overflow series, by the OpenTelemetry SDK specification. */
export const OVERFLOW: Labels = { 'otel.metric.overflow': 'true' }

/** Upper bounds of all histograms, in seconds: the GenAI conventions' own, and on to the length of agents' turns. */
export const BOUNDS: readonly number[] = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36,
  1310.72,
]

/** One value (of a histogram: its sum and counts) with its labels. Keep the object to count without a look-up. */
export class Series {
  readonly labels: Labels
  value = 0
  /** Histograms only: the number of values in each bucket; the last one is above all bounds. */
  readonly counts: number[]

  constructor(labels: Labels, buckets: number) {
    this.labels = labels
    this.counts = new Array<number>(buckets).fill(0)
  }

  add(amount: number): void {
    this.value += amount
  }

  /** Histograms: adds one value. */
  record(value: number): void {
    this.value += value
    const at = BOUNDS.findIndex((bound) => value <= bound)
    this.counts[at < 0 ? BOUNDS.length : at]! += 1
  }

  /** Histograms: the number of values. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }
}

/** Series by the values of their labels, a level for each label: no key is put together for a look-up. */
class Level {
  readonly next = new Map<string | undefined, Level>()
  series: Series | undefined
}

/** True for two lists of the labels of one metric, which are of one length. */
function isEqual(some: readonly (string | undefined)[], others: readonly (string | undefined)[]): boolean {
  for (let at = 0; at < some.length; at += 1) if (some[at] !== others[at]) return false
  return true
}

/** One metric with its series. */
export class Metric {
  readonly instrument: Instrument
  #first = new Level()
  #all: Series[] = []
  #overflow: Series | undefined
  /** The labels that were asked for last, which are mostly those of the next time too, and their series. */
  #last: { values: readonly (string | undefined)[]; series: Series } | undefined

  constructor(instrument: Instrument) {
    this.instrument = instrument
  }

  /** The series with these label values, in the order of the labels; the overflow series when there are too many. */
  of(...values: readonly (string | undefined)[]): Series {
    if (this.#last && isEqual(values, this.#last.values)) return this.#last.series
    let level: Level | undefined = this.#first
    for (const value of values) level = level?.next.get(value)
    const series = level?.series ?? this.#further(values)
    this.#last = { values, series }
    return series
  }

  #further(values: readonly (string | undefined)[]): Series {
    if (this.#all.length >= MAX_SERIES) {
      this.#overflow ??= this.#begin(OVERFLOW)
      return this.#overflow
    }
    const series = this.#begin(this.#labels(values))
    this.#all.push(series)
    this.#levelOf(values).series = series
    return series
  }

  #levelOf(values: readonly (string | undefined)[]): Level {
    return values.reduce((level, value) => {
      const next = level.next.get(value) ?? new Level()
      level.next.set(value, next)
      return next
    }, this.#first)
  }

  get series(): readonly Series[] {
    return [...this.#all, ...(this.#overflow ? [this.#overflow] : [])]
  }

  /** Removes its series: for a gauge whose subjects may be gone. */
  clear(): void {
    this.#first = new Level()
    this.#all = []
    this.#overflow = undefined
    this.#last = undefined
  }

  #begin(labels: Labels): Series {
    return new Series(labels, this.instrument.kind === 'histogram' ? BOUNDS.length + 1 : 0)
  }

  #labels(values: readonly (string | undefined)[]): Labels {
    const pairs = this.instrument.labels.map((name, at) => [name, values[at]] as const)
    return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
  }
}
