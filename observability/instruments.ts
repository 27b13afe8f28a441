/**
 * Every metric, in one table. `docs/observability.md` lists the same, and a test compares the two. GenAI names follow
 * semantic-conventions-genai v0.1.0: a turn is a client operation (`invoke_agent`), not an inference; tokens and first
 * chunk are those of its inferences, as far as the agent reports them.
 *
 * Values of labels come from the configuration or a closed list, never from what a client sends.
 */

import { ATTR } from './attributes.ts'
import type { Instrument, InstrumentKind, Metric } from './meters.ts'

/** Names of labels that spans do not have, or have as a span event's attribute. */
export const LABEL = {
  lossKind: 'turnpike.loss.kind',
  lossItem: 'turnpike.loss.item',
  askKind: 'turnpike.ask.kind',
  askEnd: 'turnpike.ask.end',
  note: 'turnpike.note',
  direction: 'network.io.direction',
  breaker: 'turnpike.breaker.state',
  transport: 'turnpike.transport',
} as const

const OPERATION = [ATTR.operation, ATTR.agent]
const TOKENS = [...OPERATION, ATTR.usageEstimated]

function define(kind: InstrumentKind, name: string, unit: string, labels: readonly string[], help: string): Instrument {
  return { kind, name, unit, labels, help }
}

/** All metrics, by their names in the code. */
export const INSTRUMENTS = {
  duration: define(
    'histogram',
    'gen_ai.client.operation.duration',
    's',
    [...OPERATION, ATTR.errorType],
    'Duration of turns, from their acceptance to their end.',
  ),
  firstChunk: define(
    'histogram',
    'gen_ai.client.inference.time_to_first_chunk',
    's',
    OPERATION,
    'From handing a turn to its agent to the first event that it shows.',
  ),
  input: define('counter', 'gen_ai.client.inference.usage.input_tokens', '{token}', TOKENS, 'Input tokens.'),
  output: define('counter', 'gen_ai.client.inference.usage.output_tokens', '{token}', TOKENS, 'Output tokens.'),
  cacheRead: define(
    'counter',
    'gen_ai.client.inference.usage.cache_read.input_tokens',
    '{token}',
    TOKENS,
    'Input tokens read from a cache.',
  ),
  cacheWrite: define(
    'counter',
    'gen_ai.client.inference.usage.cache_write.input_tokens',
    '{token}',
    TOKENS,
    'Input tokens written to a cache.',
  ),
  reasoning: define(
    'counter',
    'gen_ai.client.inference.usage.reasoning.output_tokens',
    '{token}',
    TOKENS,
    'Output tokens spent on reasoning.',
  ),
  costUsd: define('counter', 'turnpike.usage.cost', '{USD}', TOKENS, 'What turns cost, as the agents say.'),
  requests: define(
    'counter',
    'turnpike.requests',
    '{request}',
    [ATTR.front, LABEL.transport, ATTR.errorType],
    'Requests of clients that have ended, of any kind.',
  ),
  turns: define(
    'counter',
    'turnpike.turns',
    '{turn}',
    [ATTR.front, ATTR.back, ATTR.agent, ATTR.outcome, ATTR.errorType],
    'Turns that have ended.',
  ),
  active: define('updown', 'turnpike.turns.active', '{turn}', [ATTR.agent], 'Turns that run or wait.'),
  depth: define('updown', 'turnpike.queue.depth', '{turn}', [ATTR.agent], 'Turns that wait for their session.'),
  wait: define('histogram', 'turnpike.queue.wait', 's', [ATTR.agent], 'How long turns waited for their session.'),
  events: define(
    'counter',
    'turnpike.events',
    '{event}',
    [ATTR.front, ATTR.back],
    'Events of turns that have ended, the gateway’s own included.',
  ),
  losses: define(
    'counter',
    'turnpike.losses',
    '{loss}',
    [LABEL.lossKind, LABEL.lossItem],
    'What did not survive between a client and an agent.',
  ),
  asks: define('counter', 'turnpike.asks', '{ask}', [LABEL.askKind], 'Questions of agents.'),
  settled: define('counter', 'turnpike.asks.settled', '{ask}', [LABEL.askEnd], 'Questions that were settled.'),
  notes: define('counter', 'turnpike.notes', '{note}', [LABEL.note], 'What else happened to turns.'),
  links: define(
    'counter',
    'turnpike.agent.links',
    '{link}',
    [ATTR.agent, ATTR.link],
    'Links that turns ran on: kept from the session’s last turn, warm from the pool, or new.',
  ),
  processes: define('updown', 'turnpike.agent.processes', '{process}', [ATTR.agent], 'Processes of agents that run.'),
  starts: define('counter', 'turnpike.agent.starts', '{process}', [ATTR.agent], 'Processes of agents started.'),
  failures: define(
    'counter',
    'turnpike.agent.failures',
    '{call}',
    [ATTR.agent, ATTR.errorType],
    'Processes and calls that ended badly by themselves.',
  ),
  clientIo: define(
    'counter',
    'turnpike.client.io',
    'By',
    [ATTR.front, LABEL.transport, LABEL.direction],
    'Bytes of requests and answers, without what HTTP adds.',
  ),
  io: define(
    'counter',
    'turnpike.agent.io',
    'By',
    [ATTR.agent, LABEL.direction],
    'Bytes read from and sent to agents.',
  ),
  pauses: define(
    'counter',
    'turnpike.agent.pauses',
    '{pause}',
    [ATTR.agent],
    'How often the valve stopped the reading of an agent for a slow client.',
  ),
  breaker: define(
    'gauge',
    'turnpike.agent.breaker',
    '{state}',
    [ATTR.agent, LABEL.breaker],
    'Whether an agent can be used: 1 for the state that its circuit is in, 0 for the others.',
  ),
  storeWritable: define(
    'gauge',
    'turnpike.store.writable',
    '{state}',
    [],
    'Whether the record can be written: 1 or 0. While it cannot, requests that rest on it are refused.',
  ),
  storeFailures: define('counter', 'turnpike.store.failures', '{failure}', [], 'Writes to the store that failed.'),
  loopP50: define('gauge', 'nodejs.eventloop.delay.p50', 's', [], 'Median delay of the event loop of late.'),
  loopP99: define('gauge', 'nodejs.eventloop.delay.p99', 's', [], '99th percentile of the same.'),
  loopMax: define('gauge', 'nodejs.eventloop.delay.max', 's', [], 'The longest of the same.'),
  memory: define('gauge', 'process.memory.usage', 'By', [], 'Resident memory of the gateway, without its agents.'),
  uptime: define('gauge', 'process.uptime', 's', [], 'How long the gateway runs.'),
} as const satisfies Record<string, Instrument>

/** The name of a metric in the code. */
export type MetricKey = keyof typeof INSTRUMENTS

/** All metrics, by their names in the code. */
export type AllMetrics = Readonly<Record<MetricKey, Metric>>
