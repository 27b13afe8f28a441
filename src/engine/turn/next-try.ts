import type { ErrorCode, TurnEnd } from '../../model/index.ts'
import type { AgentSettings } from '../common/index.ts'
import type { Turn } from './turn.ts'

/** Failures after which another agent is tried, as long as the client was shown nothing. */
const FAILOVER_CODES: ReadonlySet<ErrorCode> = new Set([
  'agent-unavailable',
  'agent-crashed',
  'overloaded',
  'provider-down',
  'provider-rate-limit',
])

/**
 * The reasons for another attempt with the same agent, each once: it has lost the session, it asks for a fresh one, or
 * its process ended before it got the turn.
 */
export type Retry = 'session-lost' | 'fresh-session' | 'process-gone'
export const RETRIES: readonly Retry[] = ['session-lost', 'fresh-session', 'process-gone']

/**
 * The reason for another attempt after such an end, of those that are `left`; `unreached`: the process ended before it
 * got the turn.
 */
export function retryAfter({ fault }: TurnEnd, left: readonly Retry[], unreached: boolean): Retry | undefined {
  if (unreached) return left.find((retry) => retry === 'process-gone')
  if (fault?.retry !== 'fresh-session') return undefined
  const isLost = fault.code === 'session-not-found'
  return left.find((retry) => retry === 'fresh-session' || (retry === 'session-lost' && isLost))
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
