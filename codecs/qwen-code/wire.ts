import { extensions, unknownMembers } from '../../src/codec-kit/index.ts'
import { append, isRecord, type JsonText, members, object, parse, rest } from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this dialect travel. */
export const PROTOCOL = 'qwen-code'

/** The control request that goes on with an interrupted turn, and the member of `ext` that a turn which does so has. */
export const CONTINUE = 'continue_last_turn'

/** The CLI's text for a turn that was stopped. */
export const CANCELLED_TEXT = 'Operation cancelled.'

export const { ownExt, toExt } = extensions(PROTOCOL)

/**
 * Returns the members of a line that are not in `known`, and those of its object `inner` that are not in `innerKnown` (under the
 * same name), as one object; undefined when there are none.
 */
export function unknownWithin(
  line: string,
  value: Record<string, unknown>,
  known: ReadonlySet<string>,
  inner: { key: string; known: ReadonlySet<string> },
): JsonText | undefined {
  const outer = unknownMembers(line, value, known)
  const held = value[inner.key]
  if (!isRecord(held) || Object.keys(held).every((key) => inner.known.has(key))) return outer
  const raw = members(line).findLast(([key]) => key === inner.key)![1]
  return append(outer ?? '{}', object([[inner.key, rest(raw, inner.known)]]))
}

/** True for a version of the CLI that reports a failed turn as a success whose text is the error (0.15 does, 0.24 not). */
export function saysErrorsAsText(version: string | undefined): boolean {
  const minor = /^0\.(\d+)\./.exec(version ?? '0.0.')?.[1]
  return minor !== undefined && Number(minor) < 24
}

/** True when both texts say the same JSON, in any order of members. */
export function sameJson(one: JsonText, other: JsonText): boolean {
  return one === other || sorted(parse(one)) === sorted(parse(other))
}

function sorted(value: unknown): string | undefined {
  return JSON.stringify(value, (_, held: unknown) =>
    isRecord(held) ? Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1))) : held,
  )
}
