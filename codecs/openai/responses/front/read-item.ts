import type { KnownMembers, ParkedAnswer, ParkedCall } from '../../../../src/codec-kit/index.ts'
import type { JsonText, Loss, Part, Role } from '../../../../src/model/index.ts'

/** The members of an item. */
export type Fields = Record<string, unknown>

/** One item of the `input`, as it was read, and what is lost of it. */
export type ReadItem = { losses?: readonly Loss[] } & (
  | { kind: 'said'; role: Role; parts: Part[] }
  | { kind: 'answer'; answer: ParkedAnswer }
  /** An item of an earlier answer, by its id. */
  | { kind: 'reference'; id: string }
  /** Further tools of the client, raw. */
  | { kind: 'tools'; json: JsonText }
  /** A question of the agent. */
  | { kind: 'question'; call: ParkedCall }
  /** It has no place. */
  | { kind: 'nothing' }
  /** `member` is the path of the member at fault within the item. */
  | { kind: 'wrong'; why: string; member: string }
)

/** The members of every type of item; its id and status are names within an earlier response. */
export const ITEM_HEAD: KnownMembers = { type: true, id: true, status: true }

/** An item that is refused; `at` is the path of the member at fault within it. */
export function wrong(why: string, at: string): ReadItem {
  return { kind: 'wrong', why, member: at }
}
