import { isRecord, parse } from '../../model/index.ts'
import type { AgentRule, ClientRun, Heard, JsonRecord, Run, SeenLine, Verdict, Visit } from './suite.ts'

/** Broken with what was seen, unless the condition holds. */
export function expectThat(holds: boolean, seen: string): Verdict {
  return holds ? undefined : { broken: seen }
}

/** Nothing to judge. */
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

/** The first of the values that breaks a rule, as its verdict; skipped when there are none. */
export function every<T>(values: readonly T[], what: string, holds: (value: T) => boolean): Verdict {
  if (values.length === 0) return skip(`no ${what} was seen`)
  const wrong = values.find((value) => !holds(value))
  return wrong === undefined ? undefined : { broken: show(wrong) }
}

/** Broken unless exactly `count` of the things were seen. */
export function exactly(count: number, seen: readonly unknown[], what: string): Verdict {
  return expectThat(seen.length === count, `${seen.length} ${what}`)
}

/** How a run ended, in words. */
export function ending({ end, exitCode, signal }: Run): string {
  if (end === 'failed') return 'it could not be reached'
  const how = exitCode === undefined ? `was ended by ${signal}` : `exited with ${exitCode}`
  return end === 'hung' ? `it did not end by itself (${how})` : `it ${how}`
}

/** Whether the value is a string that holds something. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Whether the value is a whole number that counts something. */
export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is JsonRecord {
  return isRecord(value)
}

/** What a text holds as JSON; undefined when it is none. */
export function parsed(text: string): unknown {
  return parse(text)
}

/** The member of an object that is itself an object; an empty one when it is none. */
export function objectIn(object: JsonRecord | undefined, key: string): JsonRecord {
  const value = object?.[key]
  return isObject(value) ? value : {}
}

/** Text of many characters of three bytes, so that whoever reads in pieces of 64 KiB gets some of them in two. */
export function bigText(bytes: number): string {
  return `Reply with the word ok. Ignore this: ${'€'.repeat(Math.floor(bytes / 3))}`
}

/** The rules that any wire of JSON lines has: objects only, line ends, encoding. */
export function lineRules(prefix: string, section: string): AgentRule[] {
  const number = section.split(' ')[0]!
  const rule = (name: string, expects: string, judge: AgentRule['judge']): AgentRule => ({
    id: `${prefix}.${number}.${name}`,
    section,
    expects,
    on: 'all',
    judge,
  })
  return [
    rule('stdout-objects', 'stdout holds JSON objects, one a line, and nothing else', ({ lines }) =>
      every(
        lines.filter(({ text }) => text.trim() !== ''),
        'output',
        ({ object }) => object !== undefined,
      ),
    ),
    ...textRules(prefix, section),
  ]
}

/** The rules that any wire of lines has: line ends, encoding. */
export function textRules(prefix: string, section: string): AgentRule[] {
  const number = section.split(' ')[0]!
  return [
    {
      id: `${prefix}.${number}.line-ends`,
      section,
      expects: 'every line ends with one LF, the last one included, and with no CR',
      on: 'all',
      judge: ({ lines }) => every(lines, 'output', ({ text, ended }) => ended && !text.endsWith('\r')),
    },
    {
      id: `${prefix}.${number}.utf-8`,
      section,
      expects: 'stdout is UTF-8 without a byte order mark',
      on: 'all',
      judge: ({ lines }) => every(lines, 'output', ({ text }) => !/[\ufffd\ufeff]/.test(text)),
    },
  ]
}

/** What a client wrote on one wire. */
export function wordsOf({ heard }: Visit): SeenLine[] {
  return heard.flatMap((one) => (one.is === 'in' ? one.line : []))
}

/** What a client wrote, on all its wires. */
export function allWords({ visits }: ClientRun): SeenLine[] {
  return visits.flatMap(wordsOf)
}

/** The verdict on a client that has to wait: none of the unwelcome things before the stand-in said the last word. */
export function waits(run: ClientRun, isLast: (text: string) => boolean, unwelcome: (one: Heard) => boolean): Verdict {
  const early = run.visits.flatMap(({ heard }) => {
    const last = heard.findLastIndex((one) => one.is === 'out' && isLast(one.text))
    return last < 0 ? heard.filter(unwelcome).slice(0, 1) : heard.slice(0, last).filter(unwelcome).slice(0, 1)
  })
  return expectThat(early.length === 0, show(early[0]))
}

/** Whether a client has gone away. */
export function isLeaving({ is }: Heard): boolean {
  return is === 'signal' || is === 'orphaned'
}

/** The verdict on what a client leaves behind: every stand-in process ended before the client did. */
export function reaps({ visits }: ClientRun): Verdict {
  const left = visits.filter(({ heard }) => heard.some(({ is }) => is === 'orphaned'))
  return expectThat(left.length === 0, `${left.length} of its agents still ran when it had ended`)
}
