/** Conformance tests of real programs, without the command line around them. */
import { join } from 'node:path'
import {
  judgeAgent,
  type Result,
  runScenario,
  type Target,
  testAgent,
  testClient,
} from '../../src/conformance/index.ts'
import type { Scenario, Suite } from '../../src/conformance/kit/index.ts'
import { loadSuites } from '../../src/conformance/suites.ts'
import { ROOT, TURNPIKE } from './gateway.ts'

/** A suite by its protocol, or `protocol@suite`. */
export async function suiteOf(name: string): Promise<Suite> {
  const [protocol, suite] = name.split('@')
  const { suites } = (await loadSuites(protocol!))!
  return suites[suite ?? Object.keys(suites)[0]!]!
}

/** JavaScript, because agents under test load it too. */
const FLAW_TABLE = './flaw-table.mjs'

/** The results of the rules: the ids of the broken ones, and of those kept with a warning. */
export interface Outcome {
  broken: string[]
  warned: string[]
  /** Both, with what was seen. */
  told: readonly Result[]
}

/** Tests an agent; throws when it cannot be run. */
export async function outcomeOf(
  name: string,
  target: Target,
  timeoutMs = 10_000,
  values: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  return outcome(await testAgent({ suite: await suiteOf(name), target, timeoutMs, hostEnv: process.env, values }))
}

/** Tests a client, with stand-ins that run from the sources. */
export async function clientOutcome(
  name: string,
  command: readonly [string, ...string[]],
  timeoutMs = 20_000,
): Promise<Outcome> {
  const checks = (await loadSuites(name.split('@')[0]!))!
  return outcome(
    await testClient({
      suite: await suiteOf(name),
      ...(checks.program !== undefined && { program: checks.program }),
      command,
      cwd: ROOT,
      standIn: [process.execPath, TURNPIKE, 'conformance', name, '--play'],
      timeoutMs,
      hostEnv: process.env,
    }),
  )
}

function outcome(results: readonly Result[] | { message: string }): Outcome {
  if ('message' in results) throw new Error(results.message)
  const told = results.filter(({ status, seen }) => status === 'broken' || (status === 'passed' && seen !== undefined))
  const ids = (wanted: Result['status']): string[] =>
    told.filter(({ status }) => status === wanted).map(({ rule }) => rule)
  return { broken: ids('broken'), warned: ids('passed'), told }
}

/** Good agents without a model, by protocol: what Node.js runs. */
export const GOOD: Readonly<Record<string, readonly string[]>> = {
  native: [join(ROOT, 'test/kit/agents/native-plain.mjs')],
  zot: [join(ROOT, 'examples/agents/coder.mjs'), 'rpc'],
  zene: [join(ROOT, 'examples/agents/planner.mjs'), 'host'],
  'zene@stream': [join(ROOT, 'test/kit/agents/zene-stream.mjs')],
  agentproc: [join(ROOT, 'test/kit/agents/sentinels.mjs')],
  'agentproc@0.4': [join(ROOT, 'examples/agents/writer.mjs')],
  openharness: [join(ROOT, 'test/kit/agents/engine.mjs')],
  qwen: [join(ROOT, 'test/kit/agents/qwen-rfc.mjs')],
  'qwen-code': [join(ROOT, 'test/kit/agents/qwen-code.mjs')],
  acp: [join(ROOT, 'test/kit/agents/acp.mjs')],
}

/** A good agent with the flaw of a rule. */
export function flawed(name: string, rule: string): Target {
  const preload = `${join(ROOT, 'test/kit/flaws.mjs')}?${encodeURIComponent(rule)}`
  return { command: process.execPath, args: ['--import', `file://${preload}`, ...GOOD[name]!], cwd: ROOT }
}

/**
 * The verdicts of all rules on a good agent with one flaw: from one run of one scenario, the first of the rule's that
 * shows the flaw, and of those that it builds on.
 */
export async function flawOutcome(name: string, rule: string, timeoutMs: number): Promise<Outcome> {
  const suite = await suiteOf(name)
  const { agent, scenarios } = suite
  const { on } = agent.find(({ id }) => id === rule)!
  let shown = outcome([])
  for (const scenario of scenarios.filter((one) => one.only !== 'http' && (on === 'all' || on.includes(one.name)))) {
    const options = { suite, timeoutMs, hostEnv: process.env }
    // A scenario that is made of what an earlier one told needs that one.
    const isLater = suite.values !== undefined && scenario !== scenarios[0]
    const before =
      isLater || isMade(scenario) ? [(await runScenario(scenarios[0]!, flawed(name, rule), options, [])).run] : []
    const { run } = await runScenario(scenario, flawed(name, rule), options, before)
    shown = outcome(judgeAgent(agent, [...before, run]))
    if ([...shown.broken, ...shown.warned].includes(rule)) break
  }
  return shown
}

function isMade({ steps, env }: Scenario): boolean {
  return typeof steps === 'function' || (env?.length ?? 0) > 0
}

/** The rules of every protocol that there is a flaw for. */
export async function flawTable(): Promise<Record<string, Record<string, unknown>>> {
  const { TABLE } = (await import(FLAW_TABLE)) as { TABLE: Record<string, Record<string, unknown>> }
  return TABLE
}
