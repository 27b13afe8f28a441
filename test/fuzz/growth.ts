/** Whether the work for a wire grows with its length and not faster. */
import { play } from './play.ts'
import type { Case, Target } from './targets.ts'

const SHORT = 1500
const TIMES = 4
/** A linear reader takes `TIMES` as long for `TIMES` as much; a quadratic one the square of it. */
const WORST = 11
/** Below this nothing can be said. */
const NOISE_MS = 30

function millisecondsFor(target: Target, one: Case): number {
  const begin = process.cpuUsage()
  play(target, one)
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}

function withRepeated(one: Case, lines: readonly string[], at: number, times: number): Case {
  const many = Array<string>(times).fill(lines[at]!)
  return { ...one, wire: Buffer.from([...lines.slice(0, at), ...many, ...lines.slice(at + 1)].join('\n')) }
}

/** The lines of a seed whose repetition costs more than in proportion, with the factor. Needs a quiet machine. */
export function growing(target: Target, one: Case): string[] {
  const lines = one.wire.toString().split('\n')
  return lines.flatMap((line, at) => {
    const factor = (): number => {
      const long = millisecondsFor(target, withRepeated(one, lines, at, SHORT * TIMES))
      return long < NOISE_MS ? 0 : long / millisecondsFor(target, withRepeated(one, lines, at, SHORT))
    }
    const least = [factor(), factor(), factor()].reduce((a, b) => Math.min(a, b))
    return least > WORST ? [`${least.toFixed(1)} times the work for ${TIMES} times ${line.slice(0, 120)}`] : []
  })
}
