import { extensions, keysOf, unknownMembers } from '../../src/codec-kit/index.ts'
import {
  canonicalJson,
  type Ext,
  isRecord,
  type JsonText,
  member,
  members,
  parse,
  rest,
} from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this dialect travel. */
export const PROTOCOL = 'qwen-code'

/** The control request that continues an interrupted turn, and the member of `ext` of a turn that does so. */
export const CONTINUE = 'continue_last_turn'

/** The CLI's text for a turn that was stopped. */
export const CANCELLED_TEXT = 'Operation cancelled.'

export const { ownExt, toExt, entriesExt, unknownExt } = extensions(PROTOCOL)

/**
 * Makes a function that returns the members of a line that its schema does not know, and those of its object `inner`
 * that are not in `known` (under the same name), as one `ext`; undefined when there are none.
 */
export function unknownWithin(
  schema: { entries: object },
  inner: string,
  known: ReadonlySet<string>,
): (json: JsonText, value: Record<string, unknown>) => Ext | undefined {
  const outer = keysOf(schema)
  return (json, value) => {
    const unknown = unknownMembers(json, value, outer)
    const held = value[inner]
    if (!isRecord(held) || Object.keys(held).every((key) => known.has(key))) return toExt(unknown)
    return entriesExt(members(unknown ?? ''), { [inner]: rest(member(json, inner)!, known) })
  }
}

/** True when both texts say the same JSON, in any order of members and any form of numbers. */
export function sameJson(one: JsonText, other: JsonText): boolean {
  if (one === other) return true
  if (parse(one) === undefined || parse(other) === undefined) return false
  return canonicalJson(one, plainScalar) === canonicalJson(other, plainScalar)
}

function plainScalar(word: string): string {
  return String(JSON.parse(word))
}
