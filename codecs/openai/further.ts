import { furtherMembers, type KnownMembers, messageMembers } from '../../src/codec-kit/index.ts'
import { type JsonText, member, members, object, type Part, rest } from '../../src/model/index.ts'
import type { LostPart } from './part-loss.ts'
import { entriesExt, ownExt, ownMember, WIRE } from './wire.ts'

/** The APIs of the protocol. What one of them has besides, the other one does not know. */
export type Api = 'chat' | 'responses'

/** The further members of messages, by API. */
export const MESSAGES = {
  chat: messageMembers(WIRE, 'chat_message'),
  responses: messageMembers(WIRE, 'responses_message'),
} as const

/** The member of a tool's `ext` with those of its group, which only the Responses API has. */
export const GROUP = 'group'

/** A member of content parts that both APIs know, besides `detail`. */
const SHARED = 'prompt_cache_breakpoint'

type Fields = Readonly<Record<string, unknown>>

/** A part with the further members of what it was read from: the member of its `ext` with the name of the API. */
export function withOwn(part: Part, api: Api, json: JsonText, value: Fields, known: KnownMembers): Part {
  const further = furtherMembers(json, value, known)
  if (further === undefined) return part
  const shared = member(further, SHARED)
  const own = rest(further, new Set([SHARED]))
  return { ...part, ext: entriesExt([...members(ownExt(part.ext) ?? '{}'), [SHARED, shared], [api, own]])! }
}

/** The further members of a part or a tool for a server of this API. */
export function ownOf({ ext }: Pick<Part, 'ext'>, api: Api): JsonText | undefined {
  const own = ownMember(ext, api)
  const shared = ownMember(ext, SHARED)
  return shared === undefined ? own : object([[SHARED, shared], ...members(own ?? '{}')])
}

/** True for fields that servers of this API do not know: those of other protocols, and of the other API. */
export function isStrange(of: Pick<Part, 'ext'>, api: Api): boolean {
  if (of.ext === undefined) return false
  const other = api === 'chat' ? 'responses' : 'chat'
  const message = ownMember(of.ext, `${other}_message`)
  const isSaid = message !== undefined && members(message).length > 0
  const isOther =
    ownMember(of.ext, other) !== undefined || isSaid || (api === 'chat' && ownMember(of.ext, GROUP) !== undefined)
  return ownExt(of.ext) === undefined || isOther
}

/** Reports the fields of a part that servers of this API do not know. */
export function reportOwn(part: Part, api: Api, lost: LostPart): void {
  if (isStrange(part, api)) lost(part, 'ext')
}
