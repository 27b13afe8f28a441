import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type {
  HeardBy,
  LastTurn,
  ListedTurn,
  RequestCount,
  SessionRecord,
  Spent,
  TurnAdditions,
  TurnMeasures,
  TurnRecord,
} from '../contract/index.ts'
import type { Id, Loss, SidedLoss } from '../model/index.ts'
import { column, fromColumn } from './key-text.ts'

/** A row of the driver. */
export type Row = Record<string, SQLOutputValue>

/** The outcome in the row of a deleted turn, which is found no more. */
export const DELETED = 'deleted'

/** The record of a row of `sessions`; NULL columns are left out. */
export function sessionRecord(row: Row): SessionRecord {
  return {
    id: row['id'] as string,
    tenant: row['tenant'] as string,
    agent: row['agent'] as string,
    session: fromColumn(row['session'] as string),
    conversation: fromColumn(row['conversation'] as string),
    ...text('bound', row['bound']),
    createdAt: row['created_at'] as number,
    usedAt: row['used_at'] as number,
    ...(row['epoch'] !== 0 && { epoch: row['epoch'] as number }),
    ...parsed('settings', row['settings']),
    ...(row['renamed'] === 1 && { renamed: true as const }),
    ...lastTurn(row['last']),
    ...(typeof row['owner'] === 'string' && { owner: { owner: row['owner'], epoch: row['owner_epoch'] as number } }),
  }
}

/**
 * The agent in a row of `heardBy`, from the measures of its turn, which are null when none were recorded. Databases do not
 * read them: an error of an agent in them may hold what no text of PostgreSQL can.
 */
export function heardBy({ used, measures }: Row): HeardBy | undefined {
  if (used !== 1) return undefined
  const { back, place } = JSON.parse((measures as string | null) ?? '{}') as HeardBy
  return { ...(back !== undefined && { back }), ...(place !== undefined && { place }) }
}

function lastTurn(json: SQLOutputValue | undefined): { last?: LastTurn } {
  if (typeof json !== 'string') return {}
  const [turn, owner, ended] = JSON.parse(json) as [Id, string, number]
  return { last: { turn, owner, ended: ended === 1 } }
}

/** The record of a row of `running` or `turns`; NULL columns are left out. */
export function turnRecord(row: Row): TurnRecord {
  return {
    turn: row['turn'] as string,
    session: row['session'] as string,
    tenant: row['tenant'] as string,
    agent: row['agent'] as string,
    front: row['front'] as string,
    owner: row['owner'] as string,
    epoch: row['epoch'] as number,
    ...text('request', row['request']),
    startedAt: row['started_at'] as number,
    ...optional('endedAt', row['ended_at']),
    ...optional('outcome', row['outcome']),
    ...optional('code', row['code']),
    delivered: row['delivered'] === 1,
    ...measures(row),
    ...sidedLosses(row),
  }
}

/** The record of a row of a list of turns. */
export function listedTurn(row: Row): ListedTurn {
  return { ...turnRecord(row), named: fromColumn(row['named'] as string) }
}

/**
 * The losses of a turn. Those that an older version recorded have no side: the last ones are the client's, as many as
 * its measures repeat.
 */
function sidedLosses({ losses, measures }: Row): Pick<TurnRecord, 'losses'> {
  if (typeof losses !== 'string') return {}
  const { toClient = [] } = typeof measures === 'string' ? (JSON.parse(measures) as { toClient?: readonly Loss[] }) : {}
  const all = JSON.parse(losses) as (Loss & Partial<SidedLoss>)[]
  const ofAgent = all.length - toClient.length
  return { losses: all.map((loss, at) => ({ ...loss, side: loss.side ?? (at < ofAgent ? 'agent' : 'client') })) }
}

/** The parameters of `endTurn` for a record and what its end brings. */
export function turnRow(record: TurnRecord, { events, messages = [], known, wire }: TurnAdditions): SQLInputValue[] {
  const { turn, session, tenant, agent, front, owner, epoch, request, startedAt } = record
  const { endedAt = startedAt, outcome = 'failed', code = null, delivered, losses = [], measures } = record
  const { usage, ...measured } = measures ?? {}
  return [
    endedAt,
    turn,
    tenant,
    agent,
    front,
    owner,
    epoch,
    column(request),
    startedAt,
    endedAt,
    outcome,
    code,
    Number(delivered),
    losses.length === 0 ? null : JSON.stringify(losses),
    measures ? JSON.stringify(measured) : null,
    usage ? JSON.stringify(usage) : null,
    events?.seq ?? null,
    messages.length === 0 ? null : JSON.stringify(messages),
    events?.lines ?? null,
    known ?? null,
    wire ?? null,
    session,
  ]
}

/** The sum of a row of `spent`. */
export function spentSum(row: Row): Spent {
  return {
    tokens: row['tokens'] as number,
    estimated: row['estimated'] as number,
    costUsd: row['cost_usd'] as number,
  }
}

/** The count of a row of `requests`. */
export function requestCount(row: Row): RequestCount {
  return { process: row['process'] as string, name: row['name'] as string, count: row['count'] as number }
}

/** The usage has a column of its own, except in rows of earlier versions. */
function measures({ measures, usage }: Row): Pick<TurnRecord, 'measures'> {
  if (typeof measures !== 'string') return {}
  return { measures: { ...(JSON.parse(measures) as TurnMeasures), ...parsed('usage', usage) } }
}

function text(key: string, value: SQLOutputValue | undefined): Record<string, string> {
  return typeof value === 'string' ? { [key]: fromColumn(value) } : {}
}

function optional(key: string, value: SQLOutputValue | undefined): Record<string, SQLOutputValue> {
  return value === null || value === undefined ? {} : { [key]: value }
}

function parsed(key: string, value: SQLOutputValue | undefined): Record<string, unknown> {
  return typeof value === 'string' ? { [key]: JSON.parse(value) } : {}
}
