import type { SessionKey, SessionRecord } from '../../contract/index.ts'
import { type CommandOf, type Fault, fault, type JsonText, replyData } from '../../model/index.ts'
import { newId } from '../common/index.ts'
import { type Known, sessionInfo } from './lists.ts'
import { BUSY } from './session-changes.ts'

/** The client that copies a session. `at`: milliseconds since the epoch. */
interface Copier {
  tenant: string
  at: number
}

/**
 * Copies a session in which nothing runs: the copy begins with its transcript and settings, and goes its own way. Its
 * first turn has the agent copy its own session, where that is still as it is now; else the turn is that of a session
 * whose agent has lost it (`restore` of the agent). Answers with the copy.
 */
export async function forkSession(
  known: Known,
  { id, session: named }: CommandOf<'session-fork'>,
  { tenant, at }: Copier,
): Promise<{ data: JsonText } | { fault: Fault }> {
  const { store, sessions } = known
  const from = await store.readSession(id)
  if (from?.tenant !== tenant) return { fault: fault('session-not-found', 'There is no such session.') }
  if (sessions.live.get(id)?.busy || from.last?.ended === false) return { fault: BUSY }
  const { id: session = newId(), conversation = '' } = named ?? {}
  const key: SessionKey = { tenant, agent: from.agent, session, conversation }
  if (await store.findSession(key)) {
    return { fault: fault('invalid-request', `There is a session "${session}" already; give the copy another name.`) }
  }
  const copy = await store.openSession(key, newId(), at)
  for (const message of await store.readMessages(id)) await store.appendMessage(copy.id, message, copy.owner)
  const settings = { ...from.settings, fork: originOf(from) }
  await store.setSession(copy.id, settings, copy.owner)
  return { data: replyData(await sessionInfo(known, { ...copy, settings })) }
}

/** A copy of a copy that its agent has not heard of yet has the same origin. */
function originOf({ id, bound, last, settings }: SessionRecord): NonNullable<typeof settings>['fork'] {
  if (bound === undefined && settings?.fork) return settings.fork
  return { of: id, ...(bound !== undefined && { bound }), ...(last && { turn: last.turn }) }
}
