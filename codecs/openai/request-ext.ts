import { dropped } from '../../src/codec-kit/index.ts'
import { type Ext, type JsonText, type Loss, member, members, object } from '../../src/model/index.ts'
import { ownExt } from './wire.ts'

/** Members of a request that both APIs know, and that the model has no place for. */
const SHARED: ReadonlySet<string> = new Set([
  'metadata',
  'user',
  'safety_identifier',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
])

/** The member of an `ext` that has what only the Responses API knows. */
const OWN = 'responses'

type Report = (loss: Loss) => void

/** Puts the members that only the Responses API knows apart; undefined when there are no members. */
export function splitExt(json: JsonText): JsonText | undefined {
  const all = members(json)
  const own = all.filter(([key]) => !SHARED.has(key))
  const apart = own.length === 0 ? [] : [[OWN, object(own)] as const]
  const split = object([...all.filter(([key]) => SHARED.has(key)), ...apart])
  return split === '{}' ? undefined : split
}

/** The members for a server of the Responses API; reports those that only Chat Completions knows. */
export function responsesExt(ext: Ext | undefined, report: Report): JsonText {
  const all = members(ownExt(ext) ?? '{}')
  for (const [key] of all) if (key !== OWN && !SHARED.has(key)) report(dropped('ext', key))
  return object(
    all.flatMap(([key, json]) => (SHARED.has(key) ? [[key, json] as const] : key === OWN ? members(json) : [])),
  )
}

/** The members for a server of Chat Completions; reports those that only the Responses API knows. */
export function chatExt(ext: Ext | undefined, report: Report): JsonText | undefined {
  const own = ownExt(ext)
  const apart = own === undefined ? undefined : member(own, OWN)
  if (own === undefined || apart === undefined) return own
  for (const [key] of members(apart)) report(dropped('ext', key))
  return object(members(own).filter(([key]) => key !== OWN))
}
