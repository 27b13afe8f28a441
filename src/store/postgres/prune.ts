import { addUsage, type Message, type Usage } from '../../model/index.ts'
import { randomId } from '../../startup/index.ts'
import type { Connection } from './connection.ts'
import { list, sql } from './sql.ts'

/** A turn that is deleted. */
interface OldTurn {
  turn: string
  position: number
  session: string
  usage: string | null
  messages: string | null
}

/**
 * Deletes at most `limit` turns that ended before `before`, with their events. Their messages stay in the transcripts of
 * their sessions, and their usage in the sums. Gives the number of deleted turns; another process that prunes at the same
 * time gets others.
 *
 * The sessions are locked too, so that none is cleared while its messages move. What is locked elsewhere is left for the
 * next time: gateways lock sessions in any order, and whoever waits for none of them keeps none of them waiting for ever.
 */
export async function pruneTurns(connection: Connection, before: number, limit: number): Promise<number> {
  await connection.query('BEGIN')
  const [old = []] = await connection.query<OldTurn>(sql`
    SELECT turn, position, turns.session, turns.usage, messages FROM turns JOIN sessions ON sessions.id = turns.session
    WHERE ended_at < ${before} LIMIT ${limit} FOR UPDATE SKIP LOCKED`)
  const statements =
    old.length > 0 ? [...old.flatMap(keepMessages), ...deletions(old), ...(await sums(connection, old))] : []
  await connection.query([...statements, 'COMMIT'].join(';\n'))
  return old.length
}

function keepMessages({ messages, session, position }: OldTurn): string[] {
  if (messages === null) return []
  const answered = Number((JSON.parse(messages) as Message[]).some(({ role }) => role !== 'user'))
  return [
    sql`
      INSERT INTO messages (id, session, answered, json, place)
      VALUES (${randomId(16)}, ${session}, ${answered}, ${messages}, ${2 * position})`,
  ]
}

function deletions(old: readonly OldTurn[]): string[] {
  const turns = list(old.map(({ turn }) => turn))
  return [sql`DELETE FROM events WHERE turn IN (${turns})`, sql`DELETE FROM turns WHERE turn IN (${turns})`]
}

/** Adds the usage of the turns to that of their sessions. */
async function sums(connection: Connection, old: readonly OldTurn[]): Promise<string[]> {
  const usages = new Map<string, Usage>()
  for (const { session, usage } of old) {
    if (usage !== null) usages.set(session, addUsage(usages.get(session) ?? {}, JSON.parse(usage) as Usage))
  }
  if (usages.size === 0) return []
  const [kept] = await connection.query(sql`
    SELECT id, usage FROM sessions WHERE id IN (${list([...usages.keys()])})`)
  return kept!.map(({ id, usage }) => {
    const sum = addUsage(usage ? (JSON.parse(usage as string) as Usage) : {}, usages.get(id as string)!)
    return sql`UPDATE sessions SET usage = ${JSON.stringify(sum)} WHERE id = ${id as string}`
  })
}
