import type { Fault } from '../model/index.ts'
import { needed, withNeeds } from './agent.ts'
import { type ClientStart, runClient } from './client-run.ts'
import type { ClientRule, ClientRun, Suite } from './kit/index.ts'
import { type Result, resultOf } from './report.ts'

/** The parameters of a client's test. */
export interface ClientTest extends ClientStart {
  readonly suite: Suite
  /** The only rule to report, with broken rules that it depends on. */
  readonly only?: string
}

/** Tests a client. Returns the results, or the fault of a client that could not be run. */
export async function testClient(test: ClientTest): Promise<readonly Result[] | Fault> {
  const seen = await runClient(test, test.suite)
  if ('code' in seen) return seen
  const wanted = test.only === undefined ? test.suite.client : withNeeds(test.suite.client, test.only)
  const results = judgeClient(wanted, seen.run)
  return results.filter(({ rule, status }) => (test.only ?? rule) === rule || status === 'broken')
}

/** The results of all rules for a client's run. */
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
