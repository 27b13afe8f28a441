import type { Entry } from '../../../src/codec-kit/index.ts'
import { type JsonText, quote } from '../../../src/model/index.ts'
import type { ConfigOption } from '../update-schema.ts'

/** The method that changes a setting, and its parameters besides the session. */
export interface Change {
  method: string
  fields: readonly Entry[]
  /** Keeps the new value, once the agent has taken it. */
  done(): void
}

/** The change of a config option. */
export function optionChange(option: ConfigOption, value: string | boolean): Change {
  const fields: Entry[] = [
    ['configId', quote(option.id)],
    ['type', typeof value === 'boolean' ? '"boolean"' : undefined],
    ['value', JSON.stringify(value) as JsonText],
  ]
  const done = (): void => {
    option.currentValue = value
  }
  return { method: 'session/set_config_option', fields, done }
}
