/** Runs of the hostile kit, without the command line around them. */
import { BAD_ANSWERS } from '../../src/conformance/bad-answers.ts'
import { demandOn, misbehaving } from '../../src/conformance/bad-player.ts'
import { hostileScenario, judgeHostileAgent } from '../../src/conformance/hostile-agent.ts'
import { judgeHostileClient } from '../../src/conformance/hostile-client.ts'
import { type ClientSeen, hostileAgentRules, runClient, runScenario, type Target } from '../../src/conformance/index.ts'
import type { Behaviour, Verdict } from '../../src/conformance/kit/index.ts'
import { loadSuites } from '../../src/conformance/suites.ts'
import { suiteOf } from './conformance.ts'
import { ROOT, TURNPIKE } from './gateway.ts'

/** A client that is run once for a behaviour. */
export interface HostileClient {
  /** Its outcome, compared to a correct client with a good answer. */
  outcome(name: Behaviour, naive?: string, timeoutMs?: number): Promise<string>
}

/** A client of a protocol; its command has a word for what it is naive about. */
export async function hostileClient(
  protocol: string,
  command: (naive: string) => readonly [string, ...string[]],
): Promise<HostileClient> {
  const suite = await suiteOf(protocol)
  const { program } = (await loadSuites(protocol.split('@')[0]!))!
  const run = async (name: Behaviour, naive: string, timeoutMs: number): Promise<ClientSeen> => {
    const own = ['conformance', protocol, '--behaviour', name, '--play']
    const seen = await runClient(
      {
        ...(program !== undefined && { program }),
        command: command(naive),
        cwd: ROOT,
        standIn: [process.execPath, TURNPIKE, ...own],
        timeoutMs,
        hostEnv: process.env,
      },
      misbehaving(suite, name),
    )
    if ('code' in seen) throw new Error(seen.message)
    return seen
  }
  const good = await run('answers-well', '', 60_000)
  return {
    async outcome(name, naive = '', timeoutMs = 60_000) {
      const seen = await run(name, naive, timeoutMs)
      return wordsOf(judgeHostileClient(BAD_ANSWERS[name]!, demandOn(name, suite.hostile)!, good, seen))
    },
  }
}

/** The outcome of an agent under a behaviour. */
export async function hostileAgentOutcome(
  protocol: string,
  name: Behaviour,
  target: Target,
  timeoutMs = 20_000,
): Promise<string> {
  const suite = await suiteOf(protocol)
  const options = { suite, timeoutMs, hostEnv: process.env }
  const { run, fault } = await runScenario(hostileScenario(name, suite), target, options, [])
  if (fault) throw new Error(fault.message)
  const { demand } = hostileAgentRules(suite).find((rule) => rule.name === name)!
  return wordsOf(judgeHostileAgent(name, demand, suite, run))
}

/** `passed`, or the kind of the verdict with its words. */
function wordsOf(verdict: Verdict): string {
  if (verdict === undefined) return 'passed'
  const [[kind, words]] = Object.entries(verdict) as [[string, string]]
  return `${kind}: ${words.slice(0, 300)}`
}
