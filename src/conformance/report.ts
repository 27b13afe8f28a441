import type { Verdict } from './kit/index.ts'

/** The result of one rule. */
export interface Result {
  readonly rule: string
  readonly section: string
  readonly expected: string
  readonly status: 'passed' | 'broken' | 'skipped'
  /** The observation of a violation; for a passed rule: a weakness that does not count. */
  readonly seen?: string
  /** The reason for skipping it. */
  readonly why?: string
}

/** All results of a run. */
export interface ConformanceReport {
  readonly protocol: string
  readonly side: 'agent' | 'client'
  readonly results: readonly Result[]
}

/** The longest shown observation, in characters. */
const SHOWN = 200

/** The result of a verdict. */
export function resultOf(verdict: Verdict, lenient: boolean): Pick<Result, 'status' | 'seen' | 'why'> {
  if (verdict === undefined) return { status: 'passed' }
  if ('skipped' in verdict) return { status: 'skipped', why: shown(verdict.skipped) }
  if ('warning' in verdict) return { status: 'passed', seen: shown(verdict.warning) }
  return { status: lenient ? 'passed' : 'broken', seen: shown(verdict.broken) }
}

/** The number of rules for each status. */
export function countsOf({ results }: ConformanceReport): Record<Result['status'], number> {
  const counts = { passed: 0, broken: 0, skipped: 0 }
  for (const { status } of results) counts[status] += 1
  return counts
}

/** The report for people: a line for each rule, and a summary. */
export function textReport(report: ConformanceReport): string {
  const { passed, broken, skipped } = countsOf(report)
  return [...report.results.map(textLine), `${passed} passed, ${broken} broken, ${skipped} skipped`, ''].join('\n')
}

/** The report for programs: one JSON object. */
export function jsonReport(report: ConformanceReport): string {
  return `${JSON.stringify({ ...report, ...countsOf(report) })}\n`
}

function textLine({ rule, section, expected, status, seen, why }: Result): string {
  const head = `${rule} (${section})`
  if (status === 'broken') return `BROKEN  ${head}: expected: ${expected}; seen: ${seen}`
  if (status === 'skipped') return `skipped ${head}: ${why}`
  return `passed  ${head}${seen === undefined ? '' : `: warning: expected: ${expected}; seen: ${seen}`}`
}

/** A text of bounded length, on one line, without control characters. */
function shown(text: string): string {
  const characters = [...text.slice(0, 2 * SHOWN + 2)]
  const cut = characters.length > SHOWN ? `${characters.slice(0, SHOWN).join('')}…` : text
  return cut.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`)
}
