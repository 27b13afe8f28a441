import { dropped, type Entry, maybe, text } from '../../src/codec-kit/index.ts'
import { type JsonText, member, quote } from '../../src/model/index.ts'
import type { Report } from './part-loss.ts'

/** The members of a request that name the user whom it is for; the first one is the newer. */
export const USER = { safety_identifier: maybe(text), user: maybe(text) }

/** Those members as they were read. */
interface ReadUser {
  safety_identifier?: string | null | undefined
  user?: string | null | undefined
}

/** The longest name of a user that servers take. */
const MAX_USER = 64

/** The user of a request. */
export function userOf({ safety_identifier: newer, user: older }: ReadUser): string | undefined {
  return newer ?? older ?? undefined
}

/** The older member of a request, raw, where it names another user than the newer one. */
export function otherUser(body: JsonText, { safety_identifier: newer, user: older }: ReadUser): Entry {
  return ['user', newer == null || older == null || newer === older ? undefined : member(body, 'user')]
}

/** The user for a server; `own` are the client's own members. Servers refuse long names. */
export function userEntry(user: string | undefined, own: JsonText | undefined, report: Report): Entry {
  if (user === undefined) return ['user', undefined]
  if (user.length > MAX_USER) {
    report(dropped('start.user', undefined, 'too-narrow'))
    return ['user', undefined]
  }
  return [member(own ?? '', 'user') === undefined ? 'user' : 'safety_identifier', quote(user)]
}
