import { dropped } from '../../src/codec-kit/index.ts'
import {
  type Ext,
  type JsonText,
  type Loss,
  type Member,
  member,
  members,
  object,
  rest,
} from '../../src/model/index.ts'
import { chatOfText, textOfChat } from './formats.ts'
import { ownExt, PROTOCOL } from './wire.ts'

/** Members of a request that both APIs know, and that the model has no place for. */
const SHARED: ReadonlySet<string> = new Set([
  'metadata',
  'user',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
])

/** Members of Chat Completions that the Responses API has in its `text`. */
const OF_TEXT: ReadonlySet<string> = new Set(['response_format', 'verbosity'])

/** The members of `text` that Chat Completions has too. */
const TEXT: ReadonlySet<string> = new Set(['format', 'verbosity'])

/** The member of an `ext` that has what only the Responses API knows. */
const OWN = 'responses'

type Report = (loss: Loss) => void

/** Puts the members that only the Responses API knows apart; undefined when there are no members. */
export function splitExt(all: readonly Member[]): JsonText | undefined {
  if (all.length === 0) return undefined
  const own = all.filter(([key]) => !SHARED.has(key))
  const apart = own.length === 0 ? [] : [[OWN, object(own)] as const]
  return object([...all.filter(([key]) => SHARED.has(key)), ...apart])
}

/** Reports the members of another protocol. */
function reportForeign(ext: Ext | undefined, report: Report): void {
  if (ext && ext.protocol !== PROTOCOL) report(dropped('ext', ext.protocol))
}

/** The members for a server of the Responses API; reports those that only Chat Completions knows. */
export function responsesExt(ext: Ext | undefined, report: Report): JsonText | undefined {
  reportForeign(ext, report)
  const json = ownExt(ext)
  if (json === undefined) return undefined
  const all = members(json)
  for (const [key] of all) if (key !== OWN && !SHARED.has(key) && !OF_TEXT.has(key)) report(dropped('ext', key))
  const own = all.flatMap(([key, value]) =>
    SHARED.has(key) ? [[key, value] as const] : key === OWN ? members(value) : [],
  )
  return object([...own, ['text', own.some(([key]) => key === 'text') ? undefined : textOfChat(json)]])
}

/** The members for a server of Chat Completions; reports those that only the Responses API knows. */
export function chatExt(ext: Ext | undefined, report: Report): JsonText | undefined {
  reportForeign(ext, report)
  const own = ownExt(ext)
  const apart = own === undefined ? undefined : member(own, OWN)
  if (own === undefined || apart === undefined) return own
  const text = member(apart, 'text') ?? '{}'
  for (const [key] of members(apart)) if (key !== 'text') report(dropped('ext', key))
  if (rest(text, TEXT) !== undefined) report(dropped('ext', 'text'))
  const others = members(own).filter(([key]) => key !== OWN)
  return object([...others, ...members(chatOfText(text))])
}
