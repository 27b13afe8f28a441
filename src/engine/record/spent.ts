import type { DaySpent, Spent } from '../../contract/index.ts'
import { textOf } from '../../model/index.ts'
import type { Turn } from '../turn/index.ts'

/** The length of a day, in milliseconds. Days are those of UTC, which all have this length. */
const DAY_MS = 86_400_000

/** The characters of a text that count as one token where its agent does not count. */
const CHARACTERS = 4

/** The day of a time, by its beginning. Both are milliseconds since the epoch. */
export function dayOf(time: number): number {
  return time - (time % DAY_MS)
}

/** The end of a day. */
export function endOfDay(day: number): number {
  return day + DAY_MS
}

/**
 * The use of an ended turn. Where its agent has not counted tokens they are estimated by the texts of the prompt and of
 * what the agent said, if it said anything. A cost that the agent has not reported is unknown and counts as zero.
 */
export function spentBy({ command, view }: Turn): DaySpent {
  const { input, output, total, costUsd = 0 } = view.usage ?? {}
  const day = dayOf(view.at)
  if (total === undefined && input === undefined && output === undefined) {
    const tokens = view.messages.length === 0 ? 0 : estimate([textOf(command.input), ...saidIn(view)])
    return { day, tokens, estimated: tokens, costUsd }
  }
  const tokens = total ?? (input ?? 0) + (output ?? 0)
  return { day, tokens, estimated: view.usageEstimated ? tokens : 0, costUsd }
}

/** The sum of two. */
export function addSpent(a: Spent, b: Spent): Spent {
  return { tokens: a.tokens + b.tokens, estimated: a.estimated + b.estimated, costUsd: a.costUsd + b.costUsd }
}

function saidIn({ messages, tools }: Turn['view']): string[] {
  return [...messages.flatMap(({ text, reasoning }) => [text, reasoning]), ...tools.map(({ args }) => args)]
}

function estimate(texts: readonly string[]): number {
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  return Math.ceil(characters / CHARACTERS)
}
