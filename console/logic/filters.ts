import type { TurnRow } from './types.ts'

/** The filters of the list of turns; an absent member means any. */
export interface Filters {
  agent?: string
  front?: string
  session?: string
  state?: string
  key?: string
  /** Searches the ids of turn, request and session, and the text of the error. */
  q?: string
}

/** The names of the filters. */
export const FILTERS = ['agent', 'front', 'session', 'state', 'key', 'q'] as const

/** The filters among the settings of an address. */
export function readFilters(query: Readonly<Record<string, string>>): Filters {
  return Object.fromEntries(FILTERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}

/** True when a turn passes the filters, as the gateway has them: for turns that come live. */
export function passes(turn: TurnRow, filters: Filters): boolean {
  const { agent, front, session, state, key, q } = filters
  if (agent !== undefined && turn.agent !== agent) return false
  if (front !== undefined && turn.front !== front) return false
  if (session !== undefined && turn.session !== session) return false
  if (state !== undefined && turn.state !== state) return false
  if (key !== undefined && turn.key !== key) return false
  if (q === undefined) return true
  const texts = [turn.turn, turn.request, turn.session, turn.error]
  return texts.some((text) => text?.toLowerCase().includes(q.toLowerCase()))
}

/** The query of a request for the turns that pass the filters. */
export function filterQuery(filters: Filters, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({ ...(filters as Record<string, string>), ...more }).toString()
}
