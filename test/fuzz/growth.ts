/** Whether the work for a wire grows with its length and not faster. */
import { play } from './play.ts'
import type { Case, Target } from './targets.ts'

const TIMES = 4
/** A linear reader takes `TIMES` as long for `TIMES` as much; a quadratic one the square of it. */
const WORST = 11
/** Below this nothing can be said. */
const NOISE_MS = 30

/** What a string is made long with: what the many ways to read text look for. */
const FILLERS = ['x', ' ', 'a b', '\\n', '\\"', '{', '<', '/', '-', '\\u00e9']
/** How often a line, the filler of a string, and the only element of an array are repeated at first. */
const LINES = 1500
const LENGTH = 15_000
const ELEMENTS = 2000

/** A line that can be made as long as one likes, or given as often. */
interface Growth {
  what: string
  least: number
  text(times: number): string
}

function millisecondsFor(target: Target, one: Case): number {
  const begin = process.cpuUsage()
  play(target, one)
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}

function growthsOf(line: string): Growth[] {
  const replaced = (match: RegExpMatchArray, by: string): string =>
    line.slice(0, match.index) + by + line.slice(match.index! + match[0].length)
  const strings = [...line.matchAll(/"(?:[^"\\]|\\.)*"(?!\s*:)/g)].flatMap((match) =>
    FILLERS.map((filler) => ({
      what: `${match[0].slice(0, 40)} of ${filler}`,
      least: LENGTH,
      text: (times: number) => replaced(match, `"${filler.repeat(times)}"`),
    })),
  )
  const arrays = [...line.matchAll(/\[(\{[^[\]{}]*\}|"[^"]*"|\d+)\]/g)].map((match) => ({
    what: `elements ${match[1]!.slice(0, 40)}`,
    least: ELEMENTS,
    text: (times: number) => replaced(match, `[${Array(times).fill(match[1]).join(',')}]`),
  }))
  const repeated = { what: 'lines', least: LINES, text: (times: number) => Array<string>(times).fill(line).join('\n') }
  return [repeated, ...strings, ...arrays]
}

/** What lines have in common that differ in their texts and numbers alone. */
function shapeOf(line: string): string {
  return line.replace(/"(?:[^"\\]|\\.)*"(?!\s*:)/g, '""').replace(/\d+/g, '0')
}

/**
 * The lines of a seed whose repetition, or a part of them whose length, costs more than in proportion, with the factor.
 * Of lines of one shape the first is tried: `known` holds the shapes so far. Needs a quiet machine.
 */
export function growing(target: Target, one: Case, known: Set<string>): string[] {
  const lines = one.wire.toString().split('\n')
  return lines.flatMap((line, at) => {
    const shape = shapeOf(line)
    if (known.has(shape)) return []
    known.add(shape)
    return growthsOf(line).flatMap(({ what, least, text }) => {
      const wire = (times: number): Case => ({
        ...one,
        wire: Buffer.from([...lines.slice(0, at), text(times), ...lines.slice(at + 1)].join('\n')),
      })
      const factor = (): number => {
        const long = millisecondsFor(target, wire(least * TIMES))
        return long < NOISE_MS ? 0 : long / millisecondsFor(target, wire(least))
      }
      // Each try may only acquit.
      let worst = factor()
      for (let tries = 0; tries < 2 && worst > WORST; tries += 1) worst = Math.min(worst, factor())
      return worst > WORST
        ? [`${worst.toFixed(1)} times the work for ${TIMES} times ${what}: ${line.slice(0, 120)}`]
        : []
    })
  })
}
