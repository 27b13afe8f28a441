import { type JsonText, members, type Part } from '../model/index.ts'
import type { Extensions } from './extensions.ts'

/**
 * Further members of the messages of a request, which the model has no place for. They ride in the `ext` of the first
 * part of each message, because the input of a turn is the parts of several messages.
 */
export interface MessageMembers {
  /** The parts of a message with its further members. A message without content keeps them too. */
  begin(parts: readonly Part[], further: JsonText | undefined): Part[]
  /** The further members of the message that has these parts; undefined when none of them begins one. */
  of(parts: readonly Part[]): JsonText | undefined
  /** Parts by message: each that has members of one begins it. */
  split(parts: readonly Part[]): Part[][]
  /** The parts of messages as those of one. What follows a message with further members says where it begins. */
  join(messages: readonly (readonly Part[])[]): Part[]
}

const EMPTY: Part = { type: 'text', text: '' }

/** Makes the functions for the messages of one protocol, whose further members are the member `key` of an `ext`. */
export function messageMembers({ ownExt, ownMember, entriesExt }: Extensions, key: string): MessageMembers {
  const of = (parts: readonly Part[]): JsonText | undefined =>
    parts.map(({ ext }) => ownMember(ext, key)).find((further) => further !== undefined)
  const begin = (parts: readonly Part[], further: JsonText | undefined): Part[] => {
    if (further === undefined) return [...parts]
    const [first = EMPTY, ...others] = parts
    return [{ ...first, ext: entriesExt([...members(ownExt(first.ext) ?? '{}'), [key, further]])! }, ...others]
  }
  return {
    begin,
    of,
    split(parts) {
      const all: Part[][] = []
      for (const part of parts) {
        if (all.length === 0 || of([part]) !== undefined) all.push([part])
        else all.at(-1)!.push(part)
      }
      return all
    },
    join(messages) {
      const all: Part[] = []
      let isMarked = false
      for (const parts of messages) {
        const begins = of(parts) !== undefined
        all.push(...begin(parts, isMarked && !begins && parts.length > 0 ? '{}' : undefined))
        isMarked = begins || (isMarked && parts.length === 0)
      }
      return all
    },
  }
}
