import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The file of the program that starts agents: next to the bundle, or its source. */
export function starterProgram(): string {
  const bundled = join(import.meta.dirname, '../starter.cjs')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, '../backends/starter-main.ts')
}
