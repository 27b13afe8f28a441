import type { Fault } from '../model/index.ts'
import { type AgentTest, needed } from './agent.ts'
import { BAD_REQUESTS, type BadRequest, type GoodRequest } from './bad-requests.ts'
import {
  type AgentRun,
  BEHAVIOURS,
  type Behaviour,
  type Demand,
  ending,
  type HostileFacts,
  RUN_ID,
  type Scenario,
  type ScenarioStep,
  type Suite,
  type Verdict,
} from './kit/index.ts'
import { type Result, resultOf } from './report.ts'
import { type AgentOptions, runScenario, type Target } from './run-agent.ts'

/** A rule derived from a behaviour. */
export interface HostileRule {
  readonly name: Behaviour
  readonly demand: Demand
  readonly id: string
  readonly section: string
  readonly expects: string
}

/** The parameters of an agent's test against misbehaving clients. */
export interface HostileAgentTest extends AgentOptions {
  readonly suite: Suite
  readonly target: Target
  /** The only behaviour to report. */
  readonly only?: Behaviour
  /** As of an `AgentTest`. */
  readonly progress?: AgentTest['progress']
}

const GOOD: Behaviour = 'answers-well'
const MEANINGS: Readonly<Record<Demand, string>> = {
  answer: 'it is answered',
  advised: 'it should be answered; the agent may refuse it',
  honest: 'the agent answers or refuses',
  error: 'the agent refuses',
  untried: 'nothing is demanded',
}

/** The hostile rules for agents of a protocol, in order. */
export function hostileAgentRules({ hostile }: Suite): HostileRule[] {
  return BEHAVIOURS.flatMap((name) => {
    const bad = BAD_REQUESTS[name]
    const demand = hostile.agents?.[name] ?? bad?.demand
    if (!bad || demand === undefined || demand === 'untried' || bad.applies?.(hostile) === false) return []
    const next = hasNextTurn(bad, hostile) ? ', and the next turn is answered' : ''
    const what = bad.isRequest ? MEANINGS[demand] : 'the agent does not hang or crash'
    const expects = `where the client ${bad.does}, ${what}${next}`
    return { name, demand, id: `${hostile.prefix}.hostile.${name}`, section: hostile.section, expects }
  })
}

/** Runs an agent once for every behaviour. Returns the results, or the fault of an agent that could not be run. */
export async function testHostileAgent(test: HostileAgentTest): Promise<readonly Result[] | Fault> {
  const { suite, target, only } = test
  const rules = hostileAgentRules(suite)
  const results: Result[] = []
  const broken = new Set<string>()
  // A server of models tells its models in the first scenario.
  const earlier = suite.onlyHttp ? [(await runScenario(suite.scenarios[0]!, target, test, [])).run] : []
  for (const [at, { name, demand, id, section, expects }] of rules.entries()) {
    if (name !== GOOD && only !== undefined && only !== name) continue
    let verdict: Verdict = needed({ needs: name === GOOD ? [] : [rules[0]!.id] }, broken)
    if (!verdict) {
      const scenario = hostileScenario(name, suite)
      if ('url' in target && !scenario.steps.every(isOverHttp)) {
        verdict = { skipped: 'it cannot be tested over this transport' }
      } else {
        test.progress?.(name, at + 1, rules.length)
        const { run, fault } = await runScenario(scenario, target, test, earlier)
        if (fault && results.length === 0) return fault
        verdict = judgeHostileAgent(name, demand, suite, run)
      }
    }
    if (verdict && 'broken' in verdict) broken.add(id)
    results.push({ rule: id, section, expected: expects, ...resultOf(verdict, false) })
  }
  return results.filter(
    ({ rule, status }) => only === undefined || rule.endsWith(`.hostile.${only}`) || status === 'broken',
  )
}

/** A scenario with constant steps. */
type PlainScenario = Scenario & { readonly steps: readonly ScenarioStep[] }

/** The scenario of a behaviour: the odd request, the next turn if there can be one, the end. */
export function hostileScenario(name: Behaviour, { hostile }: Suite): PlainScenario {
  const { turns } = hostile
  const bad = BAD_REQUESTS[name]!
  const steps: ScenarioStep[] = [...(turns.opening ?? []), ...bad.steps(goodRequest(ODD, bad.prompt ?? ASK, hostile))]
  // Any turn's end counts: a refused turn may lose its id.
  const ended: ScenarioStep = { until: ({ object }) => object !== undefined && turns.endOf(object) !== undefined }
  if (bad.isRequest && !bad.isLast && turns.request && hostile.form !== 'body') steps.push(ended)
  if (hasNextTurn(bad, hostile)) {
    const { json, end } = goodRequest(NEXT, ASK, hostile)
    steps.push({ write: json + end }, ended)
  }
  return {
    name,
    steps: turns.request || bad.isLast ? [...steps, { end: true }] : steps,
    ...(turns.env && { env: () => turns.env!(bad.prompt ?? ASK) }),
    ...(turns.answer && { answer: turns.answer }),
  }
}

const ASK = 'Reply with the word ok.'
const ODD = 'odd'
const NEXT = 'next'

/** True when an end belongs to a turn, as far as the wire says so. */
function isEnd(end: string | undefined, id: string): boolean {
  return end === '' || end?.startsWith(`${id}-`) === true
}

function goodRequest(id: string, prompt: string, { turns, form }: HostileFacts): GoodRequest {
  const request = turns.request?.(`${id}-${RUN_ID}`, prompt) ?? {}
  const other = turns.cancel?.('never-sent')
  return {
    json: turns.request ? JSON.stringify(request) : '',
    end: form === 'body' || !turns.request ? '' : '\n',
    named: (value) =>
      JSON.stringify({ ...request, ...Object.fromEntries((turns.ids ?? []).map((key) => [key, value])) }),
    cancel: other && JSON.stringify(other),
    unknown: turns.unknown && turns.many ? JSON.stringify(turns.unknown) : undefined,
  }
}

/** The verdict on an agent under one behaviour. */
export function judgeHostileAgent(name: Behaviour, demand: Demand, { hostile }: Suite, run: AgentRun): Verdict {
  const { turns } = hostile
  const bad = BAD_REQUESTS[name]!
  const how = ending(run)
  if (run.end !== 'exited') return { broken: how }
  if (run.exitCode === undefined && run.transport === 'stdio') return { broken: `it crashed: it ${how.slice(3)}` }
  const ends = run.lines.flatMap(({ object }) => (object && turns.endOf(object)) ?? [])
  const answered = (id: string): boolean => {
    if (!turns.request) return run.output.trim() !== '' && run.exitCode === 0
    const before = id === NEXT && bad.isRequest ? 1 : 0
    return ends.filter((end) => isEnd(end, id)).length > (ends.includes('') ? before : 0)
  }
  if (hasNextTurn(bad, hostile)) {
    if (answered(NEXT) && (answered(ODD) || !bad.isRequest || demand === 'honest')) return undefined
    if (demand === 'answer') return { broken: `a turn was not answered; ${how}` }
  } else if (answered(ODD)) return undefined
  const said = run.lines.some(({ step }) => step > (turns.opening?.length ?? 0))
  const isRefused = said || (turns.silentRefusal === true && run.exitCode !== 0)
  if (bad.isRequest && demand === 'answer') return { broken: `its turn was not answered; ${how}` }
  // An incomplete request at the end of input needs no answer.
  if (!isRefused && !bad.isLast) return { broken: `it said nothing; ${how}` }
  return demand === 'advised' ? { warning: `its turn was not answered; ${how}` } : undefined
}

/** True when a good turn follows. */
function hasNextTurn({ isLast }: BadRequest, { turns }: HostileFacts): boolean {
  return turns.many && !isLast
}

function isOverHttp(step: ScenarioStep): boolean {
  return !('bytes' in step)
}
