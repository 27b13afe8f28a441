import type { Fault } from '../model/index.ts'
import { needed, withNeeds } from './agent.ts'
import { type ClientStart, runClient } from './client-run.ts'
import type { ClientRule, ClientRun, Suite } from './kit/index.ts'
import { type Result, resultOf } from './report.ts'

/** What a client is tested with. */
export interface ClientTest extends ClientStart {
  readonly suite: Suite
  /** The only rule to report, with what it needs where that is broken. */
  readonly only?: string
}

/** Tests a client: the results, or the fault for which it could not be run. */
export async function testClient(test: ClientTest): Promise<readonly Result[] | Fault> {
  const seen = await runClient(test, test.suite)
  if ('code' in seen) return seen
  const wanted = test.only === undefined ? test.suite.client : withNeeds(test.suite.client, test.only)
  const results = judgeClient(wanted, seen.run)
  return results.filter(({ rule, status }) => (test.only ?? rule) === rule || status === 'broken')
}

/** The judgement of every rule on what the client did. */
export function judgeClient(rules: readonly ClientRule[], run: ClientRun): Result[] {
  const broken = new Set<string>()
  return rules.map((rule) => {
    const silent = run.visits.length === 0 ? { skipped: 'the client never reached the stand-in' } : undefined
    const verdict = silent ?? needed(rule, broken) ?? rule.judge(run)
    if (verdict && 'broken' in verdict) broken.add(rule.id)
    const { id, section, expects, lenient = false } = rule
    return { rule: id, section, expected: expects, ...resultOf(verdict, lenient) }
  })
}
