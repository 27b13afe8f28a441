import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ConfigError } from '../config/index.ts'
import { StoreError } from '../contract/index.ts'
import { takeOptions } from './arguments.ts'
import { configFile, DEFAULT_CONFIG } from './config-file.ts'
import { namingConfig, ownCommand, quoted } from './own-command.ts'

/**
 * The next command to type after an error that ended a command with these arguments, as a line; undefined where the
 * message itself ends with it.
 */
export function nextStep(error: unknown, args: readonly string[]): string | undefined {
  const isStore = error instanceof StoreError
  const isConfig = error instanceof Error && error.name === 'ConfigError'
  if (!isStore && !isConfig) return undefined
  const own = ownCommand()
  const file = configFile(takeOptions(args, ['config']).options.config) ?? DEFAULT_CONFIG
  const option = namingConfig(file)
  if (isStore) {
    const { code, path } = error
    const access = code === 'unwritable' || code === 'no-folder'
    if (access) return `To see who may write there: ls -ld ${quoted(dirname(path))}`
    return `To look at it: ${own} store check${option}`
  }
  // A file that could not be read has no lines.
  if ((error as ConfigError).problems[0]?.line !== 0)
    return `To see what to write instead: ${own} check --fix-hints${option}`
  return existsSync(file) ? undefined : `To write one: ${own} init${option}`
}
