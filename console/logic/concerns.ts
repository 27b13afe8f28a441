import { duration } from './format.ts'
import type { AgentError, AgentRow, OverviewAnswer, Replicas, TurnDetail, TurnRow } from './types.ts'

/** Things that need somebody, for the first page: failures by their agent with the cause in words, the store, open questions. */

/** An agent whose turns have failed in the last hour, or that gets none. */
export interface AgentConcern {
  agent: AgentRow
  errors: readonly AgentError[]
}

/** A problem of the gateway, and its meaning. */
export interface Concern {
  title: string
  text: string
}

const HOUR_MS = 3_600_000
/** The failures of one agent that are shown. */
const MOST_ERRORS = 3
/** A small write that takes longer than this many milliseconds is felt in every turn. */
const SLOW_MS = 100

/** The agents that somebody has to look at, those with the newest failure first. */
export function agentConcerns(agents: readonly AgentRow[], now: number): AgentConcern[] {
  return agents
    .map((agent) => ({
      agent,
      errors: (agent.errors ?? []).filter(({ at }) => at > now - HOUR_MS).slice(0, MOST_ERRORS),
    }))
    .filter(({ agent, errors }) => errors.length > 0 || (agent.breaker ?? 'closed') !== 'closed')
    .sort((a, b) => (b.errors[0]?.at ?? 0) - (a.errors[0]?.at ?? 0))
}

/** The meaning of a breaker that is not closed; undefined for one that is. */
export function breakerText({ breaker = 'closed' }: AgentRow): string | undefined {
  if (breaker === 'closed') return undefined
  return breaker === 'open' ? 'gets no turns for a while (breaker open)' : 'the next turn tries it (breaker half-open)'
}

/** The problem of the store; undefined while there is none. */
export function storeConcern(store: OverviewAnswer['store']): Concern | undefined {
  if (!store) return undefined
  if (!store.writable) {
    return {
      title: 'The store cannot be written',
      text: 'Turns go on without a record, and requests that need one are refused. The log of the gateway has the reason: look at the disk or the database.',
    }
  }
  if (store.writeMs <= SLOW_MS) return undefined
  return {
    title: 'The store is slow',
    text: `A small write takes ${duration(store.writeMs)}, and every turn waits for several. Look at the disk or the database of the gateway, and at the network between them.`,
  }
}

/** The replicas that have not answered, so that their figures are missing; undefined when all have. */
export function replicaConcern(replicas: Replicas | undefined): Concern | undefined {
  if (!replicas || replicas.answered === replicas.of) return undefined
  const { of, answered, missing = [] } = replicas
  const silent = of - answered
  return {
    title: `${silent} of ${of} replicas ${silent === 1 ? 'does' : 'do'} not answer`,
    text: `${missing.length > 0 ? `No answer came from ${missing.join(', ')}. ` : ''}The figures are those of the other ${answered}. Look at ${silent === 1 ? 'its log' : 'their logs'}, and at the network between the replicas.`,
  }
}

/** The turns that wait for somebody’s answer. */
export function askingTurns(turns: readonly TurnRow[]): TurnRow[] {
  return turns.filter(({ phase }) => phase === 'asking' || phase === 'parked')
}

/** The stderr of the agent of a failed turn: of this turn, or of the newest one that failed in the same words. */
export function stderrOf(agents: readonly AgentRow[], { turn, agent, fault }: TurnDetail): string | undefined {
  const errors = agents.find(({ name }) => name === agent)?.errors ?? []
  const same = errors.find((error) => error.turn === turn) ?? errors.find(({ message }) => message === fault?.message)
  return same?.stderr?.trimEnd()
}

/** The last lines of a program’s error output that say something. */
export function tailOf(stderr: string, lines: number): string {
  return stderr
    .trimEnd()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-lines)
    .join('\n')
}
