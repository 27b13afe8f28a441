import type { Hooks, Store } from '../../contract/index.ts'
import type { EngineSettings } from './settings.ts'

/** Writes what operators should know. Never content. */
export interface EngineLog {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** Dependencies of the engine. `now` is milliseconds since the epoch. */
export interface EngineParts {
  settings: EngineSettings
  store: Store
  hooks: Hooks
  log: EngineLog
  now?: () => number
  /** Takes secrets out of what is kept of wires, as it is done for the log. */
  clean?: (text: string) => string
  /** The time that a streamed answer may be silent before its wire is kept alive, in milliseconds (15 s when absent). */
  keepAliveMs?: number
}
