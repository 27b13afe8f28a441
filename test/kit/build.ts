import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'esbuild'
import { HOSTILE_AGENT } from '../hostile/agent-file.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Builds the programs that tests start: Turnpike when a source file is newer than it, and the hostile agent. */
export async function setup(): Promise<void> {
  execFileSync('sh', [join(ROOT, 'deploy/bootstrap.sh'), 'build'], { stdio: 'inherit' })
  const entry = join(ROOT, 'test/hostile/agent.mjs')
  await build({ entryPoints: [entry], outfile: HOSTILE_AGENT, bundle: true, platform: 'node', format: 'cjs' })
}
