import type { ErrorCode, TurnEnd } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { Turn } from './turn.ts'

/** Failures that another agent may help against, as long as the client was shown nothing. */
const FAILOVER_CODES: ReadonlySet<ErrorCode> = new Set([
  'agent-unavailable',
  'agent-crashed',
  'overloaded',
  'provider-down',
  'provider-rate-limit',
])

/** The reasons for another attempt with the same agent, each once: it has lost the session, or asks for a fresh one. */
export type Retry = 'session-lost' | 'fresh-session'
export const RETRIES: readonly Retry[] = ['session-lost', 'fresh-session']

/** The reason for another attempt after such an end, of those that are `left`. */
export function retryAfter({ fault }: TurnEnd, left: readonly Retry[]): Retry | undefined {
  if (fault?.retry !== 'fresh-session') return undefined
  return left.find((retry) => retry === 'fresh-session' || fault.code === 'session-not-found')
}

/** The agent that takes over after such an end: the first of these that may be tried now. The failure counts then. */
export function failoverAfter(
  { fault }: TurnEnd,
  { agent, peers: { breakers, log } }: Turn,
  others: readonly AgentSettings[],
): AgentSettings | undefined {
  if (!fault || !FAILOVER_CODES.has(fault.code)) return undefined
  const other = breakers.choose(others)
  if (!other) return undefined
  breakers.recordOutcome(agent, fault)
  log.warn('a turn is given to another agent', { agent: agent.name, code: fault.code })
  return other
}
