import { addHistogram, type Histogram, newHistogram, type Percentiles, percentilesOf } from '../common/index.ts'

/** The turns of a tenant on an agent that ended in a minute. */
export interface Cell {
  tenant: string
  agent: string
  sum: Sum
}

/** Sums of turns. */
export interface Sum {
  turns: number
  failed: number
  input: number
  output: number
  costUsd: number
  firstEvent: Histogram
  total: Histogram
}

/** Figures of the turns of a minute, or of the last hour. Durations are milliseconds, absent without a turn. */
export interface Figure {
  turns: number
  failed: number
  input: number
  output: number
  costUsd: number
  firstEvent?: Percentiles
  total?: Percentiles
}

/** A cell of a minute as replicas send it to each other: JSON. Histograms have the counts of their buckets. */
export interface ToldCell {
  minute: number
  agent: string
  sum: Omit<Sum, 'firstEvent' | 'total'> & { firstEvent: Counts; total: Counts }
}

type Counts = Readonly<Record<number, number>>

/** An empty sum. */
export function newSum(): Sum {
  return { turns: 0, failed: 0, input: 0, output: 0, costUsd: 0, firstEvent: newHistogram(), total: newHistogram() }
}

/** The figure of several cells together. */
export function figureOf(cells: readonly Cell[]): Figure {
  const all = newSum()
  for (const { sum } of cells) {
    all.turns += sum.turns
    all.failed += sum.failed
    all.input += sum.input
    all.output += sum.output
    all.costUsd += sum.costUsd
    addHistogram(all.firstEvent, sum.firstEvent)
    addHistogram(all.total, sum.total)
  }
  const { firstEvent: first, total: whole, ...sums } = all
  const [firstEvent, total] = [percentilesOf(first), percentilesOf(whole)]
  return { ...sums, ...(firstEvent && { firstEvent }), ...(total && { total }) }
}

/** A cell as it is sent to another replica. */
export function toldCell(minute: number, { agent, sum }: Cell): ToldCell {
  return { minute, agent, sum: { ...sum, firstEvent: countsOf(sum.firstEvent), total: countsOf(sum.total) } }
}

/** A cell that another replica has sent. */
export function heardCell({ agent, sum }: ToldCell): Cell {
  return { tenant: '', agent, sum: { ...sum, firstEvent: histogramOf(sum.firstEvent), total: histogramOf(sum.total) } }
}

function countsOf(histogram: Histogram): Counts {
  return Object.fromEntries([...histogram.entries()].filter(([, count]) => count > 0))
}

function histogramOf(counts: Counts): Histogram {
  const histogram = newHistogram()
  for (const [bucket, count] of Object.entries(counts)) histogram[Number(bucket)] = count
  return histogram
}
