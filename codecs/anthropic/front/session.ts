import { parseObject } from '../../../src/model/index.ts'

const LEGACY = /_session_([A-Za-z0-9-]+)$/

/**
 * The session that a `metadata.user_id` names: coding agents put JSON with a `session_id` into it, earlier ones a text
 * that ends with it. Any other id is a user, who may have many conversations.
 */
export function sessionOfUser(user: string | null | undefined): string | undefined {
  if (user == null) return undefined
  const session = parseObject(user)?.['session_id']
  return typeof session === 'string' && session !== '' ? session : LEGACY.exec(user)?.[1]
}
