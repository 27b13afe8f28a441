import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The file of the embedded defaults. */
export const DEFAULT_CONFIG = join(packageRoot, 'examples', 'default.yaml')

/** The configuration file: the named one, else TURNPIKE_CONFIG's, else ./turnpike.yaml, else the embedded defaults. */
export function configFile(named: string | undefined): string {
  const file = named ?? process.env['TURNPIKE_CONFIG']
  if (file) return resolve(file)
  const here = resolve('turnpike.yaml')
  return existsSync(here) ? here : DEFAULT_CONFIG
}
