import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The version of this package. */
export function version(): string {
  const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
  return manifest.version
}

/** `turnpike version`. */
export function versionCommand(): number {
  process.stdout.write(`turnpike ${version()}\n`)
  return 0
}
