import type { Fault } from '../model/index.ts'
import type { AgentRule, AgentRun, Suite, Verdict } from './kit/index.ts'
import { type Result, resultOf } from './report.ts'
import { type AgentOptions, runScenario, type Target } from './run-agent.ts'

/** The parameters of an agent's test. */
export interface AgentTest extends AgentOptions {
  readonly suite: Suite
  readonly target: Target
  /** The only rule to report, with broken rules that it depends on. */
  readonly only?: string
  /** Called before each run of the program, with what it is about, its number from 1, and the number of them all. */
  readonly progress?: (what: string, at: number, of: number) => void
}

/** Tests an agent. Returns the results, or the fault of an agent that could not be run. */
export async function testAgent(test: AgentTest): Promise<readonly Result[] | Fault> {
  const { suite, target, only } = test
  const transport = 'url' in target ? 'http' : 'stdio'
  const rules = only === undefined ? suite.agent : withNeeds(suite.agent, only)
  const wanted = (name: string): boolean => rules.some(({ on }) => on === 'all' || on.includes(name))
  const runs: AgentRun[] = []
  for (const [at, scenario] of suite.scenarios.entries()) {
    if ((scenario.only ?? transport) !== transport || !(wanted(scenario.name) || isFirst(scenario.name, suite)))
      continue
    test.progress?.(scenario.name, at + 1, suite.scenarios.length)
    const { run, fault } = await runScenario(scenario, target, test, runs)
    if (fault && runs.length === 0) return fault
    runs.push(run)
  }
  return judgeAgent(rules, runs).filter(
    ({ rule, status }) => only === undefined || rule === only || status === 'broken',
  )
}

/** The results of all rules for the runs of their scenarios. */
export function judgeAgent(rules: readonly AgentRule[], runs: readonly AgentRun[]): Result[] {
  const broken = new Set<string>()
  return rules.map((rule) => {
    const verdict = needed(rule, broken) ?? judged(rule, runs)
    if (verdict && 'broken' in verdict) broken.add(rule.id)
    const { id, section, expects, lenient = false } = rule
    return { rule: id, section, expected: expects, ...resultOf(verdict, lenient) }
  })
}

/** Skips a rule that depends on a broken rule. */
export function needed({ needs = [] }: { needs?: readonly string[] }, broken: ReadonlySet<string>): Verdict {
  const missing = needs.find((id) => broken.has(id))
  return missing === undefined ? undefined : { skipped: `${missing} is broken` }
}

function judged(rule: AgentRule, runs: readonly AgentRun[]): Verdict {
  const { on } = rule
  const own = runs.filter(({ scenario }) => on === 'all' || on.includes(scenario))
  if (own.length === 0) return { skipped: 'it cannot be tested over this transport' }
  let skipped: Verdict
  let isKept = false
  for (const run of own) {
    const verdict = rule.judge(run, runs.slice(0, runs.indexOf(run)))
    if (verdict === undefined) isKept = true
    else if ('broken' in verdict) return { broken: `in scenario ${run.scenario}: ${verdict.broken}` }
    else skipped = verdict
  }
  return isKept ? undefined : skipped
}

/** A rule with all rules that it depends on, in the order of the suite. */
export function withNeeds<R extends { id: string; needs?: readonly string[] }>(
  rules: readonly R[],
  id: string,
): readonly R[] {
  const ids = new Set([id])
  for (const one of ids) for (const need of rules.find((rule) => rule.id === one)?.needs ?? []) ids.add(need)
  return rules.filter((rule) => ids.has(rule.id))
}

/** The scenarios to run. The first one always runs: later ones may use its output. */
function isFirst(name: string, { scenarios }: Suite): boolean {
  return scenarios[0]?.name === name
}
