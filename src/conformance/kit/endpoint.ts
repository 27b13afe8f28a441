import { exits, expectThat, isObject, parsed, show, skip } from './judges.ts'
import type { AgentRow } from './rules.ts'
import type { AgentRun, JsonRecord, Verdict } from './suite.ts'

/** The JSON object of a whole answer; an empty one when it is none. */
export function bodyOf({ output }: AgentRun): JsonRecord {
  const body = parsed(output)
  return isObject(body) ? body : {}
}

/** True for a request that was answered, not refused. */
export function isAnswered({ status = 0 }: AgentRun): boolean {
  return status >= 200 && status < 300
}

/** True for an answer that is a stream of events. */
export function isStreamed({ headers }: AgentRun): boolean {
  return /^text\/event-stream\b/.test(headers?.['content-type'] ?? '')
}

/** Judges answers; refusals are skipped, because other rules are about them. */
export function ofAnswers(judge: (run: AgentRun) => Verdict): (run: AgentRun) => Verdict {
  return (run) => (isAnswered(run) ? judge(run) : skip(`the request was refused with ${run.status}`))
}

/** Judges refusals; answers are skipped. */
export function ofRefusals(judge: (run: AgentRun) => Verdict): (run: AgentRun) => Verdict {
  return (run) => (isAnswered(run) ? skip('the request was not refused') : judge(run))
}

/** The members of a list that are objects; nothing for anything else. */
export function recordsIn(object: JsonRecord | undefined, key: string): JsonRecord[] {
  const list = object?.[key]
  return Array.isArray(list) ? list.filter(isObject) : []
}

/** Judges that a request was answered. */
export function answered(run: AgentRun): Verdict {
  return expectThat(isAnswered(run), `${run.status} ${run.output}`)
}

/** Judges that a request was refused with one of these statuses; any of the client's mistakes when none is named. */
export function refused(...statuses: readonly number[]): (run: AgentRun) => Verdict {
  return ({ status = 0, output }) =>
    expectThat(statuses.length > 0 ? statuses.includes(status) : status >= 400 && status < 500, `${status} ${output}`)
}

/** Judges the type of a whole answer's content. */
export function isJsonAnswer({ headers }: AgentRun): Verdict {
  const type = headers?.['content-type']
  return expectThat(/^application\/json\b/.test(type ?? ''), show(type))
}

/** Judges the type of a stream's content. */
export const isEventStream = ofAnswers((run) => expectThat(isStreamed(run), show(run.headers?.['content-type'])))

/** Judges that the events of a stream end with blank lines, the last one too. */
export const endsEvents = ofAnswers(({ output }) =>
  expectThat(/(?:\r\n|\n|\r(?!\n)){2}$/.test(output), show(output.slice(-100))),
)

/** The rows about any answer over HTTP, in this section: it ends, in UTF-8. */
export function httpRows(section: string): Readonly<Record<string, AgentRow>> {
  return {
    [`${section}.ends`]: { expects: 'every answer is complete, and ends by itself', judge: exits },
    [`${section}.utf-8`]: {
      expects: 'every answer is UTF-8 without a byte order mark',
      judge: ({ output }) =>
        expectThat(!/[\ufffd\ufeff]/.test(output), show(/.{0,20}[\ufffd\ufeff]/.exec(output)?.[0])),
    },
  }
}

/** The id of the first model of a list, which the first scenario has asked for. */
export function firstModel(_lines: unknown, earlier: readonly AgentRun[]): string | undefined {
  const id = earlier[0] && recordsIn(bodyOf(earlier[0]), 'data')[0]?.['id']
  return typeof id === 'string' ? id : undefined
}

/** The whole answer to a scenario; an empty object when it has not been run. */
export function bodyNamed(name: string, earlier: readonly AgentRun[]): JsonRecord {
  const run = earlier.find(({ scenario }) => scenario === name)
  return run ? bodyOf(run) : {}
}
