/** The table of results: ratios, budgets, what has become worse. */
import { median } from './statistics.ts'

/** A line of the table as it is defined. */
export interface LineInfo {
  name: string
  what: string
  unit: string
  /** What the figure is held against. */
  against: string
  /** How figure and limit become the number that the budget is for. */
  by: 'ratio' | 'difference' | 'figure'
  budget: number
  /** Whether that number must not be below the budget or not above it. */
  bound: 'least' | 'most'
  /** What keeps it from its budget where it misses it, and by how much it was improved. */
  limitedBy?: string
}

/** A line that is measured once: a figure that must not be exceeded, unless it says otherwise. */
export function onceLine(of: Pick<LineInfo, 'name' | 'what' | 'unit' | 'budget'> & Partial<LineInfo>): LineInfo {
  return { against: '', by: 'figure', bound: 'most', ...of }
}

/** One round of a line; `limit` is 0 where there is none. */
export interface Sample {
  figure: number
  limit: number
}

/** A line of the table: medians of its rounds. */
export interface Row extends LineInfo {
  figure: number
  limit: number
  /** The median of the rounds' own numbers: figure and limit of one round had the same machine. */
  value: number
  met: boolean
  rounds: number
}

/** What a benchmark run gives. */
export interface Results {
  machine: Readonly<Record<string, string>>
  command: string
  date: string
  /** How much of the processors' time others took, by round, 0 to 1. */
  lost: readonly number[]
  quiet: boolean
  /** Peers that could not be measured, and why. */
  missing?: readonly string[]
  rows: readonly Row[]
}

function numberOf({ by }: LineInfo, { figure, limit }: Sample): number {
  if (by === 'figure') return figure
  return by === 'ratio' ? figure / limit : figure - limit
}

/** The row of a line's rounds. */
export function rowOf(line: LineInfo, samples: readonly Sample[]): Row {
  const value = median(samples.map((sample) => numberOf(line, sample)))
  return {
    ...line,
    figure: median(samples.map(({ figure }) => figure)),
    limit: median(samples.map(({ limit }) => limit)),
    value,
    met: line.bound === 'least' ? value >= line.budget : value <= line.budget,
    rounds: samples.length,
  }
}

/** By how much a row is outside of its budget, such as `12 %`; empty when it is met. */
export function missedBy({ met, value, budget, bound }: Row): string {
  if (met) return ''
  const share = bound === 'least' ? 1 - value / budget : value / budget - 1
  return budget === 0 ? shown(value) : `${shown(share * 100)} %`
}

/** How much worse a row is than it was: 0.1 is a tenth. Negative when it is better. */
export function worsened(before: Row, now: Row): number {
  return now.bound === 'least' ? 1 - now.value / before.value : now.value / before.value - 1
}

/** What has become worse than the base by more than `most`, one line each. */
export function regressions(base: Results, now: Results, most: number): string[] {
  return now.rows.flatMap((row) => {
    const before = base.rows.find(({ name }) => name === row.name)
    if (!before) return []
    const worse = worsened(before, row)
    const figures = `${shown(before.value)} was, ${shown(row.value)} is`
    return worse > most ? [`${row.name} is worse by ${shown(worse * 100)} % (${figures})`] : []
  })
}

/** Three figures that count. */
export function shown(value: number): string {
  const size = Math.abs(value)
  if (!Number.isFinite(value)) return '-'
  if (size >= 100) return Math.round(value).toString()
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3)
}

/** The results as Markdown. */
export function markdown({ machine, command, date, lost, quiet, missing = [], rows }: Results): string {
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`)
  const noise = `- processor time lost to others: median ${shown(median(lost) * 100)} %${quiet ? '' : ' (NOT a quiet machine)'}`
  const lines = rows.map((row) => {
    const limit = row.by === 'figure' ? '-' : `${shown(row.limit)} (${row.against})`
    const budget = `${row.bound === 'least' ? '≥' : '≤'} ${row.budget}`
    const met = row.met ? 'yes' : `no, by ${missedBy(row)}`
    return `| \`${row.name}\` | ${row.what} | ${shown(row.figure)} ${row.unit} | ${limit} | ${shown(row.value)} | ${budget} | ${met} |`
  })
  return [
    `- date: ${date}`,
    `- command: \`${command}\``,
    ...facts,
    noise,
    ...missing.map((why) => `- ${why}`),
    '',
    '| line | what | figure | limit | ratio, difference or figure | budget | met |',
    '|---|---|---|---|---|---|---|',
    ...lines,
    '',
    ...limits(rows),
  ].join('\n')
}

/** What limits the rows that miss their budgets, those with the same reason together. */
function limits(rows: readonly Row[]): string[] {
  const missed = rows.filter(({ met }) => !met)
  const reasons = new Set(missed.map(({ limitedBy = 'not known' }) => limitedBy))
  return [...reasons].flatMap((reason) => {
    const names = missed.filter(({ limitedBy = 'not known' }) => limitedBy === reason).map(({ name }) => `\`${name}\``)
    return [`- ${names.join(', ')}: ${reason}`, '']
  })
}
