import { execFileSync } from 'node:child_process'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { HOSTILE_AGENT } from '../hostile/agent-file.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The process of the test runner that has built them, for its other projects. */
const BUILT = 'TURNPIKE_TEST_BUILT'

/**
 * Builds the programs that tests start, once before a run: Turnpike when a source file is newer than it, and the hostile
 * agent. Replaces the agent at once, because tests of another run may be starting it.
 */
export async function setup(): Promise<void> {
  if (process.env[BUILT] === String(process.pid)) return
  process.env[BUILT] = String(process.pid)
  execFileSync('sh', [join(ROOT, 'deploy/bootstrap.sh'), 'build'], { stdio: 'inherit' })
  const entry = join(ROOT, 'test/hostile/agent.mjs')
  const next = `${HOSTILE_AGENT}.${process.pid}`
  await build({ entryPoints: [entry], outfile: next, bundle: true, platform: 'node', format: 'cjs' })
  renameSync(next, HOSTILE_AGENT)
}
