import type { SessionRecord, Store, TurnPage } from '../../contract/index.ts'
import {
  type CommandOf,
  type Fault,
  fault,
  type JsonText,
  replyData,
  type SessionInfo,
  type SessionsArgs,
  type SessionsReply,
  type TurnsReply,
} from '../../model/index.ts'
import type { ClientAccess } from '../client/index.ts'
import { type LiveTurns, matchesTurn, type Scope, type Sessions } from '../session/index.ts'
import { keyOf, turnInfo } from '../turn/index.ts'
import { sessionsArgs, turnsArgs } from './list-args.ts'

/** The sources of an answer: the store, and the sessions and turns in memory. */
export interface Known {
  store: Store
  sessions: Sessions
  turns: LiveTurns
}

/** The client that asks: its tenant, and whether it may see the turns and sessions of others. */
export interface Viewer {
  tenant: string
  admin: boolean
}

/** A client as a viewer. */
export function viewerOf({ tenant, role }: ClientAccess): Viewer {
  return { tenant, admin: role === 'admin' }
}

const NO_SUCH = fault('session-not-found', 'There is no such entry to go on from; begin again without "before".')

/** True for a turn or session that the client may see by its id. */
export function maySee({ tenant, admin }: Viewer, of: { tenant: string } | undefined): boolean {
  return of !== undefined && (admin || of.tenant === tenant)
}

/**
 * The owner of the turns and sessions in a list: one tenant, or everybody (`tenant` is absent). A list is of the
 * client's own unless it asks for all. `none`: it asks for those of another key, which it may not see.
 */
export function scopeOf({ tenant, admin }: Viewer, { all, key }: SessionsArgs): Scope {
  if (admin && all) return key === undefined ? {} : { tenant: key }
  return key === undefined || key === tenant ? { tenant } : 'none'
}

/** The answer to `query turns`. */
export async function listTurns(known: Known, command: CommandOf<'query'>, by: Viewer): Promise<JsonText | Fault> {
  const args = turnsArgs(command.args)
  if ('code' in args) return args
  const scope = scopeOf(by, args)
  if (scope === 'none') return replyData({ turns: [] } satisfies TurnsReply)
  const { back: _back, q, all: _all, key: _key, follow: _follow, limit = 0, ...same } = args
  const page: TurnPage = { ...same, ...scope, limit, ...(q !== undefined && { text: q }) }
  const listed = await known.store.listTurns(page)
  if (!listed) return NO_SUCH
  const { key: _, ...conditions } = args
  const turns = listed.rows.flatMap((record) => {
    const info = turnInfo(record, record.named, known.turns.get(record.turn))
    return matchesTurn(info, record.session, conditions) ? info : []
  })
  return replyData({ turns, ...(listed.next !== undefined && { next: listed.next }) } satisfies TurnsReply)
}

/** The answer to `query sessions`. */
export async function listSessions(known: Known, command: CommandOf<'query'>, by: Viewer): Promise<JsonText | Fault> {
  const args = sessionsArgs(command.args)
  if ('code' in args) return args
  const scope = scopeOf(by, args)
  if (scope === 'none') return replyData({ sessions: [] } satisfies SessionsReply)
  const { q, all: _all, key: _key, limit = 0, ...same } = args
  const listed = await known.store.listSessions({ ...same, ...scope, limit, ...(q !== undefined && { text: q }) })
  if (!listed) return NO_SUCH
  const sessions = await Promise.all(listed.rows.map((record) => sessionInfo(known, record)))
  return replyData({ sessions, ...(listed.next !== undefined && { next: listed.next }) } satisfies SessionsReply)
}

/** A session as it is listed. */
export async function sessionInfo({ store, sessions }: Known, record: SessionRecord): Promise<SessionInfo> {
  const { tenant, settings: { cwd, title, model, mode } = {}, last, ...rest } = record
  const { bound: _bound, epoch: _epoch, renamed: _renamed, ...info } = rest
  const usage = await store.usageOf(record.id)
  const live = sessions.live.get(record.id)
  const link = live?.link
  const named = model ?? link?.model
  return {
    ...info,
    ...(cwd !== undefined && { cwd }),
    ...(title !== undefined && { title }),
    ...(usage && { usage }),
    ...keyOf(tenant),
    ...(named !== undefined && { model: named }),
    ...(mode !== undefined && { mode }),
    busy: live?.busy === true || last?.ended === false,
    process: live?.occupied ? 'running' : link?.persistent ? 'idle' : 'none',
  }
}
