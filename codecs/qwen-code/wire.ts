import {
  append,
  type Ext,
  isRecord,
  type JsonText,
  members,
  object,
  oneLine,
  parse,
  rest,
} from '../../src/model/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this dialect travel. */
export const PROTOCOL = 'qwen-code'

/** The control request that goes on with an interrupted turn, and the member of `ext` that a turn which does so has. */
export const CONTINUE = 'continue_last_turn'

/** What the CLI says of a turn that was stopped. */
export const CANCELLED_TEXT = 'Operation cancelled.'

/** One member of a message to write; an undefined value leaves it out. */
export type Entry = readonly [key: string, json: JsonText | undefined]

/** A message as one line; members of `extra` whose keys the message does not have itself are added behind. */
export function messageLine(entries: readonly Entry[], extra?: JsonText): string {
  if (extra === undefined) return oneLine(object(entries))
  const own = new Set(entries.flatMap(([key, json]) => (json === undefined ? [] : [key])))
  return oneLine(append(object(entries), rest(extra, own)))
}

/** The unknown members of a message as they travel; undefined when there are none. */
export function carried(json: JsonText | undefined): Ext | undefined {
  return json === undefined ? undefined : { protocol: PROTOCOL, json }
}

/** The members of an event's own unknown fields; undefined when it has none, or only those of another protocol. */
export function ownExt(ext: Ext | undefined): JsonText | undefined {
  return ext?.protocol === PROTOCOL ? ext.json : undefined
}

/**
 * The members of a line that are not in `known`, and those of its object `inner` that are not in `innerKnown` (under the
 * same name), as one object; undefined when there are none.
 */
export function unknownMembers(
  line: string,
  value: Record<string, unknown>,
  known: ReadonlySet<string>,
  inner?: { key: string; known: ReadonlySet<string> },
): JsonText | undefined {
  const held = inner && value[inner.key]
  const innerStrange = inner && isRecord(held) && Object.keys(held).some((key) => !inner.known.has(key))
  if (!innerStrange && Object.keys(value).every((key) => known.has(key))) return undefined
  const outer = rest(line, known)
  if (!innerStrange) return outer
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
