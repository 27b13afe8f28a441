import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The configuration of the example agents, which only `turnpike serve` uses, when there is no other. */
export const DEFAULT_CONFIG = join(packageRoot, 'examples', 'default.yaml')

/** The configuration file: the named one, else TURNPIKE_CONFIG's, else ./turnpike.yaml, else undefined. */
export function configFile(named: string | undefined): string | undefined {
  const file = named ?? process.env['TURNPIKE_CONFIG']
  if (file) return resolve(file)
  const here = resolve('turnpike.yaml')
  return existsSync(here) ? here : undefined
}
