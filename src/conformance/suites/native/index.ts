import {
  bigText,
  type HostileFacts,
  isObject,
  type JsonRecord,
  type ProtocolSuites,
  RUN_ID,
  type Scenario,
  type ScenarioStep,
  type Suite,
  untilType,
  writes,
} from '../../kit/index.ts'
import { agentRules, TURNS } from './agent.ts'
import { clientRules, play } from './client.ts'

const OK = 'Reply with the word ok.'

function turnStart(turn: string, text: string): JsonRecord {
  const input = [{ type: 'text', text }]
  const session = { id: `conformance-${RUN_ID}` }
  return { type: 'turn-start', exchange: `x-${turn}`, turn, task: 'prompt', input, options: {}, session }
}

function start(turn: string, text: string, more: JsonRecord = {}): { write: string } {
  return writes({ ...turnStart(turn, text), ...more })
}

/** Waits for the agent, does this, and ends its input. */
function scenario(name: string, ...steps: ScenarioStep[]): Scenario {
  return { name, steps: [untilType('agent-ready'), ...steps, { end: true }], answer: deny }
}

/** Denies an agent's approvals. */
function deny({ type, turn, ask, question }: JsonRecord): string[] {
  const options = isObject(question) && Array.isArray(question['options']) ? question['options'].filter(isObject) : []
  const option = options.find(({ kind }) => kind === 'deny')?.['id']
  if (type !== 'ask' || option === undefined) return []
  const reply = { kind: 'approval', option }
  return [`${JSON.stringify({ type: 'ask-reply', exchange: `x-${ask}`, target: { turn }, ask, reply })}\n`]
}

const [odd] = TURNS['unicode'] as [string]

const hostile: HostileFacts = {
  prefix: 'native',
  form: 'objects',
  section: '1 Lines',
  isLast: (frame) => frame.includes('"type":"turn-end"'),
  owner: ['turn'],
  clients: { 'unknown-messages-and-fields': 'answer' },
  agents: { 'unknown-messages-and-fields': 'answer' },
  turns: {
    many: true,
    opening: [untilType('agent-ready')],
    request: turnStart,
    ids: ['turn'],
    cancel: (turn) => ({ type: 'turn-cancel', exchange: 'x-cancel', target: { turn } }),
    unknown: { type: 'no-such', exchange: 'x-unknown' },
    endOf: ({ type, turn }) => (type === 'turn-end' ? String(turn) : undefined),
    silentRefusal: true,
    answer: deny,
  },
}

const suite: Suite = {
  framing: 'lines',
  http: false,
  env: [],
  scenarios: [
    scenario('turn', start('t1', OK), untilType('turn-end'), start('t2', OK), untilType('turn-end')),
    scenario(
      'query',
      writes({ type: 'query', exchange: 'q1', what: 'state', session: { id: `conformance-${RUN_ID}` } }),
      untilType('command-reply'),
    ),
    scenario(
      'cancel',
      start('t3', 'Count from one to five hundred, one number a line.'),
      { until: ({ object }) => object?.['turn'] === 't3' },
      writes({ type: 'turn-cancel', exchange: 'x-cancel', target: { turn: 't3' } }),
      untilType('turn-end'),
    ),
    scenario('unicode', escaped(start(odd, 'Reply with this line: \u2028 “é” 😀 \\u0000')), untilType('turn-end')),
    scenario('separator', start('t4', `${OK}\u2028Nothing else.`), untilType('turn-end')),
    scenario('unknown', start('t5', OK, { 'x-later': { n: 1 } }), untilType('turn-end')),
    scenario('big', start('t6', bigText(200_000)), untilType('turn-end')),
  ],
  agent: agentRules,
  client: clientRules,
  play,
  hostile,
}

function escaped({ write }: { write: string }): ScenarioStep {
  return { write: write.replaceAll('\u2028', '\\u2028') }
}

/** The tests of the native protocol on lines. */
export const conformance: ProtocolSuites = { suites: { lines: suite } }
