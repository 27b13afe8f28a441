import { globMatches } from '../model/index.ts'
import type { Environment } from './expand.ts'

/** The names of all set variables that match one of the globs and are not withheld. */
export function inheritedNames(env: Environment, globs: readonly string[], withheld: readonly string[]): string[] {
  return Object.keys(env).filter(
    (name) => env[name] !== undefined && !withheld.includes(name) && globs.some((glob) => globMatches(glob, name)),
  )
}
