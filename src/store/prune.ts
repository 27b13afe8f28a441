import { addUsage, type Message, type Usage } from '../model/index.ts'
import type { Row } from './rows.ts'
import type { Statements } from './statements.ts'

/**
 * Deletes at most `limit` turns that ended before `before`, with their events. Their messages stay in the transcripts of
 * their sessions, and their usage in the sums. Gives the number of deleted turns. Called in a transaction.
 */
export function pruneTurns(sql: Statements, before: number, limit: number): number {
  const usages = new Map<string, Usage>()
  const old = sql.oldTurns.all(before, before, limit)
  for (const { position, turn, session, usage, messages } of old.map(oldTurn)) {
    for (const message of JSON.parse(messages ?? '[]') as Message[]) {
      sql.keepMessage.run(session, JSON.stringify(message), 2 * position)
    }
    if (usage) usages.set(session, addUsage(usages.get(session) ?? {}, JSON.parse(usage) as Usage))
    sql.deleteEvents.run(turn)
    sql.deleteTurn.run(position)
  }
  for (const [session, usage] of usages) {
    const kept = sql.readFolded.get(session)?.['usage'] as string | null | undefined
    sql.writeUsage.run(JSON.stringify(addUsage(kept ? (JSON.parse(kept) as Usage) : {}, usage)), session)
  }
  return old.length
}

function oldTurn(row: Row): OldTurn {
  return {
    position: row['position'] as number,
    turn: row['turn'] as string,
    session: row['session'] as string,
    usage: row['usage'] as string | null,
    messages: row['messages'] as string | null,
  }
}

interface OldTurn {
  position: number
  turn: string
  session: string
  usage: string | null
  messages: string | null
}
