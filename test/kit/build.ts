import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Builds the program that the tests start, when a source file is newer than it. */
export function setup(): void {
  execFileSync('sh', [join(import.meta.dirname, '../../deploy/bootstrap.sh'), 'build'], { stdio: 'inherit' })
}
