import { type JsonText, type Members, quote } from '../../../src/model/index.ts'
import type { ConfigOption } from '../update-schema.ts'

/** The method that changes a setting, and its parameters besides the session. */
export interface Change {
  method: string
  fields: Members
  /** Keeps the new value, once the agent has taken it. */
  done(): void
}

/** The change of a config option. */
export function optionChange(option: ConfigOption, value: string | boolean): Change {
  const fields: Members = {
    configId: quote(option.id),
    type: typeof value === 'boolean' ? '"boolean"' : undefined,
    value: JSON.stringify(value) as JsonText,
  }
  const done = (): void => {
    option.currentValue = value
  }
  return { method: 'session/set_config_option', fields, done }
}
