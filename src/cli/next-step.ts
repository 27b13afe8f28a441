import { dirname } from 'node:path'
import type { ConfigError } from '../config/index.ts'
import { StoreError } from '../contract/index.ts'
import { takeOptions } from './arguments.ts'
import { ownCommand } from './own-command.ts'

/**
 * The next command to type after an error that ended a command with these arguments, as a line; undefined where the
 * message itself ends with it.
 */
export function nextStep(error: unknown, args: readonly string[]): string | undefined {
  const own = ownCommand()
  if (error instanceof Error && error.name === 'ConfigError') {
    // A file that could not be read has no lines.
    if ((error as ConfigError).problems[0]?.line === 0) return `To write one: ${own} init`
    const { config } = takeOptions(args, ['config']).options
    return `To see what to write instead: ${own} check --fix-hints${config === undefined ? '' : ` --config ${config}`}`
  }
  if (!(error instanceof StoreError)) return undefined
  const { code, path } = error
  const access = code === 'unwritable' || code === 'no-folder'
  return access ? `To see who may write there: ls -ld ${dirname(path)}` : `To look at it: ${own} store check`
}
