import type { SessionSettings } from '../../contract/index.ts'
import { isRecord, type JsonText, parseObject } from '../../model/index.ts'

/**
 * The offers of an agent with the values that the session's client has set: another process of the agent than the
 * session's own does not know them. A value that is not offered is left out.
 */
export function offersAsSet(json: JsonText, settings: SessionSettings | undefined): JsonText {
  const offers = parseObject(json)
  if (!offers || !settings) return json
  const { modes, options } = offers
  const isMode = Array.isArray(modes) && modes.some((mode) => isRecord(mode) && mode['id'] === settings.mode)
  return JSON.stringify({
    ...offers,
    ...(isMode && { mode: settings.mode }),
    ...(Array.isArray(options) && { options: options.map((option) => optionAsSet(option, settings)) }),
  })
}

/** The settings that an option may stand for, by its category. */
const CATEGORIES = ['mode', 'model', 'effort'] as const

function optionAsSet(option: unknown, settings: SessionSettings): unknown {
  if (!isRecord(option)) return option
  const { id, category, choices } = option
  const named = CATEGORIES.find((name) => name === category)
  const value = settings.options?.[String(id)] ?? (named && settings[named])
  const isOffered = Array.isArray(choices)
    ? choices.some((choice) => isRecord(choice) && choice['value'] === value)
    : typeof value === 'boolean'
  return isOffered ? { ...option, value } : option
}
