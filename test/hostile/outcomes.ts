/** What every turn with a misbehaving agent comes to, in a few words: the goldens of its test and the table of the docs. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ANSWER } from './kit.ts'

/** By behaviour, then by protocol or by the form of the answer. */
export type Outcomes = Record<string, Record<string, string>>

/** Whose outcomes: those of agents that are programs, of engines over HTTP, or of servers of models. */
export type OutcomesOf = 'outcomes' | 'engine-outcomes' | 'model-outcomes'

const fileOf = (of: OutcomesOf): string => join(import.meta.dirname, `${of}.json`)

/** The outcomes as they are kept. */
export function keptOutcomes(of: OutcomesOf = 'outcomes'): Outcomes {
  return JSON.parse(readFileSync(fileOf(of), 'utf8')) as Outcomes
}

/** Keeps them. */
export function keepOutcomes(outcomes: Outcomes, of: OutcomesOf = 'outcomes'): void {
  writeFileSync(fileOf(of), `${JSON.stringify(outcomes, null, 2)}\n`)
}

/** What the store has of a turn, and what its client read. */
export interface Told {
  outcome: string | null
  code: string | null
  text: string
  /** How much of what the agent said was not understood. */
  unparsed: number
}

/** `answer`, another text, or the code of the error; and what was not understood. */
export function wordsFor({ outcome, code, text, unparsed }: Told): string {
  const loss = unparsed === 0 ? '' : `, ${unparsed} unparsed`
  if (outcome !== 'completed') return `${code ?? outcome}${loss}`
  return `${textWords(text)}${loss}`
}

function textWords(text: string): string {
  if (text === ANSWER) return 'answer'
  if (text.length <= 120)
    return `text ${JSON.stringify(text).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}`
  return /^x+$/.test(text) ? `text of ${text.length} x` : `text of ${text.length} characters`
}
