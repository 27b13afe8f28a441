import type { Listed, ListedTurn, Page, SessionRecord, TurnPage } from '../contract/index.ts'
import type { Id } from '../model/index.ts'
import { toColumn } from './key-text.ts'

/**
 * The most rows of one tenant that a page with conditions looks at: a search that finds nothing must not read the whole
 * record at once. Its page is short then, and `next` goes on from there.
 */
export const MOST_READ = 5000

/** A place in a list: rows come by time, the latest first; of one time by id, the greatest first. */
export interface Place {
  at: number
  id: Id
}

/** The place before all rows. */
export const NEWEST: Place = { at: Number.MAX_SAFE_INTEGER, id: '' }

/** Rows of one tenant in the order of the list. `cut`: the last one that was looked at, when more may follow. */
export interface Found<T> {
  rows: readonly T[]
  cut?: Place | undefined
}

/** The place of a turn in lists. */
export function placeOfTurn({ startedAt, turn }: ListedTurn): Place {
  return { at: startedAt, id: turn }
}

/** The place of a session in lists. */
export function placeOfSession({ usedAt, id }: SessionRecord): Place {
  return { at: usedAt, id }
}

/**
 * Puts what was found of all tenants together as one page; `limit` more than were asked for need not be found. A turn that
 * ends while the list is read is found twice, as one that runs before: the later one counts.
 */
export function pageOf<T>(found: readonly Found<T>[], limit: number, placeOf: (row: T) => Place): Listed<T> {
  const cut = found.flatMap((one) => one.cut ?? []).sort(byPlace)[0]
  const all = found.flatMap((one) => one.rows).sort((one, other) => byPlace(placeOf(one), placeOf(other)))
  const rows = all.filter((row, at) => all.length === at + 1 || byPlace(placeOf(row), placeOf(all[at + 1]!)) !== 0)
  // What is after the first cut comes on later pages, with what else is there.
  const certain = cut ? rows.filter((row) => byPlace(placeOf(row), cut) <= 0) : rows
  const shown = certain.slice(0, limit)
  const next = certain.length > limit ? placeOf(shown.at(-1)!).id : cut?.id
  return { rows: shown, ...(next !== undefined && { next }) }
}

function byPlace(one: Place, other: Place): number {
  return other.at - one.at || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0)
}

/** True for a page that leaves rows of its tenant out. */
export function hasConditions({ tenant: _, limit: _limit, before: _before, ...conditions }: TurnPage): boolean {
  return Object.keys(conditions).length > 0
}

/** The conditions of a page of sessions, as parameters of a statement; null for none. */
export function sessionConditions({ agent, text }: Page): { agent: string | null; text: string | null } {
  return { agent: agent ?? null, text: text === undefined ? null : toColumn(asciiLower(text)) }
}

/** The conditions of a page of turns. */
export type TurnConditions = Record<'agent' | 'text' | 'front' | 'state' | 'session', string | null>

/** The conditions of a page of turns, as parameters of a statement. */
export function turnConditions({ front, state, session, ...page }: TurnPage): TurnConditions {
  const wanted = { front: front ?? null, state: state ?? null }
  return { ...sessionConditions(page), ...wanted, session: session === undefined ? null : toColumn(session) }
}

/** A text in which letters of ASCII are small ones, as both databases compare. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}
