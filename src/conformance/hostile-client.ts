import type { Fault } from '../model/index.ts'
import { type AgentTest, needed } from './agent.ts'
import { BAD_ANSWERS } from './bad-answers.ts'
import { demandOn, misbehaving } from './bad-player.ts'
import { type ClientSeen, type ClientStart, runClient } from './client-run.ts'
import type { HostileRule } from './hostile-agent.ts'
import { BEHAVIOURS, type Behaviour, type Demand, type Suite, show, type Verdict } from './kit/index.ts'
import { type Result, resultOf } from './report.ts'
import { type BadAnswer, PIECES } from './spoil.ts'

/** The parameters of a client's test against misbehaving agents. */
export interface HostileClientTest extends Omit<ClientStart, 'standIn'> {
  readonly suite: Suite
  /** The command of the stand-in that misbehaves in this way. */
  readonly standIn: (name: Behaviour) => readonly string[]
  /** The only behaviour to report. */
  readonly only?: Behaviour
  /** As of an `AgentTest`. */
  readonly progress?: AgentTest['progress']
}

/** The hostile rules for clients of a protocol, in order. */
export function hostileClientRules({ hostile }: Suite): HostileRule[] {
  return BEHAVIOURS.flatMap((name) => {
    const demand = demandOn(name, hostile)
    if (demand === undefined) return []
    const expects = `where the agent ${BAD_ANSWERS[name]!.does}, ${MEANINGS[demand]}`
    return { name, demand, id: `${hostile.prefix}.client.hostile.${name}`, section: hostile.section, expects }
  })
}

const MEANINGS: Readonly<Record<Demand, string>> = {
  answer: 'the client shows the whole answer and exits with 0',
  advised: 'the client should show the whole answer; it may fail, and never shows another one as a success',
  honest: 'the client shows the whole answer, or fails: it exits with another code than 0',
  error: 'the client fails: it exits with another code than 0',
  untried: 'nothing is demanded',
}

/** Runs a client once for every behaviour. Returns the results, or the fault of a client that could not be run. */
export async function testHostileClient(test: HostileClientTest): Promise<readonly Result[] | Fault> {
  const rules = hostileClientRules(test.suite)
  const results: Result[] = []
  const broken = new Set<string>()
  let good: ClientSeen | undefined
  let silent: Verdict
  for (const [at, rule] of rules.entries()) {
    const { name, id, section, expects, demand } = rule
    if (name !== GOOD && test.only !== undefined && test.only !== name) continue
    let verdict: Verdict = silent ?? needed({ needs: name === GOOD ? [] : [rules[0]!.id] }, broken)
    if (!verdict) {
      test.progress?.(name, at + 1, rules.length)
      const seen = await runClient({ ...test, standIn: test.standIn(name) }, misbehaving(test.suite, name))
      if ('code' in seen) return seen
      good ??= seen
      verdict = judgeHostileClient(BAD_ANSWERS[name]!, demand, good, seen)
    }
    if (verdict && 'broken' in verdict) broken.add(id)
    if (verdict && 'skipped' in verdict && name === GOOD) silent = verdict
    results.push({ rule: id, section, expected: expects, ...resultOf(verdict, false) })
  }
  return results.filter(
    ({ rule, status }) => test.only === undefined || rule.endsWith(`.${test.only}`) || status === 'broken',
  )
}

const GOOD: Behaviour = 'answers-well'

/** The verdict on a client under one behaviour, compared to its run with a good answer. */
export function judgeHostileClient(bad: BadAnswer, demand: Demand, good: ClientSeen, seen: ClientSeen): Verdict {
  const { visits, end, exitCode } = seen.run
  if (visits.length === 0) return { skipped: 'the client never reached the stand-in' }
  if (bad.only !== undefined && !visits.some(({ transport }) => transport === bad.only))
    return { skipped: 'it cannot be tested over this transport' }
  if (end === 'hung') return { broken: 'it did not end by itself' }
  if (exitCode !== 0) {
    if (demand === 'answer') return { broken: `it exited with ${exitCode}` }
    return demand === 'advised' ? { warning: `it exited with ${exitCode}` } : undefined
  }
  const wrong = demand === 'error' ? 'no answer was whole' : wrongText(bad, good.output, seen.output)
  return wrong === undefined ? undefined : { broken: `it exited with 0, but ${wrong}: ${show(seen.output)}` }
}

/** The error in a client's output; undefined when it never shows answers. */
function wrongText({ says = PIECES, shows, never }: BadAnswer, good: string, seen: string): string | undefined {
  const once = countOf(plain(good), PIECES.join(''))
  if (once === 0) return undefined
  const text = plain(seen)
  const found = shows ? [...text.matchAll(new RegExp(shows, 'gu'))].length : countOf(text, plain(says.join('')))
  if (found !== once) return found === 0 ? 'the answer is not shown' : `the answer is shown ${found} times, not ${once}`
  return never !== undefined && countOf(text, never) > countOf(plain(good), never)
    ? `${show(never)} is shown`
    : undefined
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1
}

/** The visible part of a text, however a client escapes it: white space is normalized, NUL removed. */
function plain(text: string): string {
  return text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\0', '')
    .replace(/(?:\\[rn]|[\s\u0085])+/g, ' ')
}
