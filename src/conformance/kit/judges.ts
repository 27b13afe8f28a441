import { isRecord, parse } from '../../model/index.ts'
import type { AgentRow, ClientRow } from './rules.ts'
import type { AgentRun, ClientRun, Heard, JsonRecord, SeenLine, Verdict, Visit } from './suite.ts'

/** Broken, with the observation, unless the condition holds. */
export function expectThat(holds: boolean, seen: string): Verdict {
  return holds ? undefined : { broken: seen }
}

/** Skipped: there is nothing to judge. */
export function skip(why: string): Verdict {
  return { skipped: why }
}

/** A value as it is shown in a report. */
export function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

/** The JSON objects of a run, in order. */
export function objectsOf({ lines }: { lines: readonly SeenLine[] }): JsonRecord[] {
  return lines.flatMap(({ object }) => (object ? [object] : []))
}

/** The verdict on the first value that breaks a rule; skipped when there are no values. */
export function every<T>(values: readonly T[], what: string, holds: (value: T) => boolean): Verdict {
  if (values.length === 0) return skip(`no ${what} was seen`)
  const wrong = values.find((value) => !holds(value))
  return wrong === undefined ? undefined : { broken: show(wrong) }
}

/** Broken, with the first value, unless there is none. */
export function none(values: readonly unknown[]): Verdict {
  return expectThat(values.length === 0, show(values[0]))
}

/** Broken, with the value, unless the condition holds for it. */
export function fits<T>(value: T, condition: (value: T) => boolean): Verdict {
  return expectThat(condition(value), show(value))
}

/** Broken unless there are exactly `count` values. */
export function exactly(count: number, seen: readonly unknown[], what: string): Verdict {
  return expectThat(seen.length === count, `${seen.length} ${what}`)
}

/** The end of a run, in words. */
export function ending({ end, exitCode, signal }: AgentRun): string {
  if (end === 'failed') return 'it could not be reached'
  const how = exitCode === undefined ? `was ended by ${signal}` : `exited with ${exitCode}`
  return end === 'hung' ? `it did not end by itself (${how})` : `it ${how}`
}

/** True for a string that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** True for a whole number from 0. */
export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** True for a JSON object. */
export function isObject(value: unknown): value is JsonRecord {
  return isRecord(value)
}

/** The value of a JSON text; undefined when it is not JSON. */
export function parsed(text: string): unknown {
  return parse(text)
}

/** A member that is an object; an empty object when it is not. */
export function objectIn(object: JsonRecord | undefined, key: string): JsonRecord {
  const value = object?.[key]
  return isObject(value) ? value : {}
}

/** Text of many three-byte characters, so that a program that reads in pieces of 64 KiB gets some of them split. */
export function bigText(bytes: number): string {
  return `Reply with the word ok. Ignore this: ${'€'.repeat(Math.floor(bytes / 3))}`
}

/** The rules of any JSON-lines wire, as rows of this section: objects only, line ends, encoding. */
export function lineRules(section: string): Readonly<Record<string, AgentRow>> {
  return {
    [`${section}.stdout-objects`]: {
      expects: 'stdout holds JSON objects, one a line, and nothing else',
      judge: ({ lines }) =>
        every(
          lines.filter(({ text }) => text.trim() !== ''),
          'output',
          ({ object }) => object !== undefined,
        ),
    },
    ...textRules(section),
  }
}

/** The rules of any line wire, as rows of this section: line ends, encoding. */
export function textRules(section: string): Readonly<Record<string, AgentRow>> {
  return {
    [`${section}.line-ends`]: {
      expects: 'every line ends with one LF, the last one included, and with no CR',
      judge: ({ lines }) => every(lines, 'output', ({ text, ended }) => ended && !text.endsWith('\r')),
    },
    [`${section}.utf-8`]: {
      expects: 'stdout is UTF-8 without a byte order mark',
      judge: ({ lines }) => every(lines, 'output', ({ text }) => !/[\ufffd\ufeff]/.test(text)),
    },
  }
}

/** The rule for clients of any JSON-lines wire. */
export const objectLines: ClientRow = {
  expects: 'every line on stdin is a JSON object, ended by LF',
  judge: (run) => every(allWords(run), 'line', ({ object, ended }) => object !== undefined && ended),
}

/** Judges that an agent ends by itself. */
export function exits(run: AgentRun): Verdict {
  return expectThat(run.end === 'exited', ending(run))
}

/** Judges that an agent exits by itself, with 0. */
export function exitsWithZero(run: AgentRun): Verdict {
  return expectThat(run.end === 'exited' && run.exitCode === 0, ending(run))
}

/** The lines of a client on one wire. */
export function wordsOf({ heard }: Visit): SeenLine[] {
  return heard.flatMap((one) => (one.is === 'in' ? one.line : []))
}

/** The lines of a client on all its wires. */
export function allWords({ visits }: ClientRun): SeenLine[] {
  return visits.flatMap(wordsOf)
}

/** The JSON objects that a program under test wrote, in order: all, or those of these types. */
export function saidBy(run: AgentRun | ClientRun, ...types: readonly string[]): JsonRecord[] {
  const all = objectsOf({ lines: 'lines' in run ? run.lines : allWords(run) })
  return types.length === 0 ? all : all.filter(({ type }) => types.includes(type as string))
}

/** True when no two values are the same. */
export function areUnique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length
}

/** The verdict on a client that has to stay: it does not go away before the stand-in's last message. */
export function waits({ visits }: ClientRun, isLast: (text: string) => boolean): Verdict {
  const early = visits.flatMap(({ heard }) => {
    const last = heard.findLastIndex((one) => one.is === 'out' && isLast(one.text))
    return (last < 0 ? heard : heard.slice(0, last)).filter(isLeaving).slice(0, 1)
  })
  return expectThat(early.length === 0, show(early[0]))
}

function isLeaving({ is }: Heard): boolean {
  return is === 'signal' || is === 'orphaned'
}

/** The verdict on remaining processes: every stand-in process must end before the client does, and the client by itself. */
export function reaps({ visits, end }: ClientRun): Verdict {
  const left = visits.filter(({ heard }) => heard.some(({ is }) => is === 'orphaned'))
  if (left.length > 0) return { broken: `${left.length} of its agents still ran when it had ended` }
  return expectThat(end === 'exited', 'the client did not end by itself')
}
