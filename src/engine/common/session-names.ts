import { type Capabilities, LOCAL_TENANT, type SessionRecord } from '../../contract/index.ts'
import { digestOf } from '../../startup/index.ts'

/** The names of a session towards its agent. `conversation` is absent where the client named none. */
export interface SessionNames {
  id: string
  conversation?: string
}

/** The form of a name that is made here. A client's own name of this form is replaced by one that is made of it. */
const MADE = /^tp-[0-9a-f]{64}$/

/**
 * The names of a session towards its agent, so that no two sessions of an agent share them: neither of two tenants, nor of
 * two conversations, nor what a session was before it was cleared or deleted.
 *
 * The local tenant's own words go through as they came; a conversation too, where the agent's protocol has a place for
 * it. In every other case both names are one that is made: `tp-` and the SHA-256 of all that the session is known by, in
 * letters, digits and a hyphen, which every protocol takes for an id. So is a blank id, which Zene agents refuse.
 */
export function sessionNames(
  { tenant, agent, session, conversation, epoch = 0 }: SessionRecord,
  capabilities: Capabilities,
): SessionNames {
  const asItCame =
    tenant === LOCAL_TENANT &&
    epoch === 0 &&
    /\S/.test(session) &&
    !MADE.test(session) &&
    !MADE.test(conversation) &&
    (conversation === '' || capabilities['session.conversation'] === 'full')
  const id = asItCame ? session : `tp-${digestOf(JSON.stringify([tenant, agent, session, conversation, epoch]))}`
  if (conversation === '') return { id }
  return { id, conversation: asItCame ? conversation : id }
}
