import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The configuration of the example agents, which only `turnpike serve` uses, when there is no other. */
export const DEFAULT_CONFIG = join(packageRoot, 'examples', 'default.yaml')

/** The configuration file, which may not exist: the named one, else TURNPIKE_CONFIG's, else ./turnpike.yaml. */
export function usualFile(named?: string): string {
  return resolve(named || process.env['TURNPIKE_CONFIG'] || 'turnpike.yaml')
}

/** The same; undefined when none is named and there is no ./turnpike.yaml. */
export function configFile(named: string | undefined): string | undefined {
  const file = usualFile(named)
  return named || process.env['TURNPIKE_CONFIG'] || existsSync(file) ? file : undefined
}
