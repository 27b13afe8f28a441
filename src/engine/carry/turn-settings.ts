import type { BackHalf } from '../../contract/index.ts'
import { type Item, itemsOf, type Loss, type TurnOptions, type TurnSettings } from '../../model/index.ts'
import { dropped, isServedHere, without } from './carry.ts'

/** Other settings for a turn that waits for its client. */
export interface SettingsChange {
  /** Those that its agent goes on with, without what its protocol has no place for; absent: it keeps those before. */
  settings?: TurnSettings
  /** The parts of the change that do not reach the agent. */
  losses: readonly Loss[]
}

const OPTIONS = itemsOf('option')

/** Set for a whole turn, whatever the agent is. */
const FIXED: ReadonlySet<Item> = new Set(['start.agent', 'option.totalMs'])

/** A setting that differs; `said`: the newer request has a value for it. */
interface Difference {
  item: Item
  said: boolean
}

/**
 * Compares the settings of a request that goes on with a turn to those that the turn has. Agents that take settings
 * (`takesSettings`) get the newer ones in full; for others each difference is a loss.
 */
export function changeOf(
  { capabilities, takesSettings }: Pick<BackHalf<unknown>, 'capabilities' | 'takesSettings'>,
  before: TurnSettings,
  now: TurnSettings,
): SettingsChange {
  const has = (item: Item): boolean => capabilities[item] !== 'none'
  const differing = differences(before, now)
  const losses = differing.flatMap(({ item, said }): Loss[] => {
    if (FIXED.has(item)) return said ? [{ ...dropped(item), why: 'policy' }] : []
    if (!has(item)) return said && !isServedHere(item) ? [dropped(item)] : []
    return takesSettings ? [] : [{ ...dropped(item), why: 'policy' }]
  })
  const reaches = takesSettings && differing.some(({ item }) => has(item) && !FIXED.has(item))
  return { losses, ...(reaches && { settings: carried(now, has) }) }
}

/** The settings of a request as those of its turn are kept: a `model` that only named the agent is none. */
export function asBegun(begun: TurnSettings, now: TurnSettings): TurnSettings {
  const { model, ...options } = now.options
  const names = model !== undefined && model === now.agent && now.agent === begun.agent
  return names && begun.options.model === undefined ? { ...now, options } : now
}

/** The form of an answer is that of its own request, so `streaming` makes no difference. */
function differences(before: TurnSettings, now: TurnSettings): Difference[] {
  const options = new Set([...Object.keys(before.options), ...Object.keys(now.options)] as (keyof TurnOptions)[])
  options.delete('streaming')
  const all: readonly (readonly [Item, unknown, unknown])[] = [
    ['start.agent', before.agent, now.agent],
    ['start.user', before.user, now.user],
    ['start.clientTools', before.clientTools, now.clientTools],
    ...[...options].map((key) => [OPTIONS[key]!, before.options[key], now.options[key]] as const),
    ['ext', before.ext, now.ext],
  ]
  return all
    .filter(([, was, is]) => JSON.stringify(was) !== JSON.stringify(is))
    .map(([item, , is]) => ({ item, said: is !== undefined }))
}

function carried({ options, user, clientTools, ext }: TurnSettings, has: (item: Item) => boolean): TurnSettings {
  return {
    options: without(options, (key) => !has(OPTIONS[key]!)),
    ...(user !== undefined && has('start.user') && { user }),
    ...(clientTools && has('start.clientTools') && { clientTools }),
    ...(ext && has('ext') && { ext }),
  }
}
