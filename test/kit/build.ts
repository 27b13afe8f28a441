import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { HOSTILE_AGENT } from '../hostile/agent-file.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A folder of the PATH of all tests: messages name the program `turnpike`, as after an installation. */
const BIN = join(ROOT, 'node_modules/.cache/turnpike-bin')

/** The process of the test runner that has built them, for its other projects. */
const BUILT = 'TURNPIKE_TEST_BUILT'

/**
 * Builds the programs that tests start, once before a run: Turnpike when a source file is newer than it, and the hostile
 * agent. Replaces the agent and the link to Turnpike at once, because tests of another run may be starting them.
 */
export async function setup(): Promise<void> {
  if (process.env[BUILT] === String(process.pid)) return
  process.env[BUILT] = String(process.pid)
  execFileSync('sh', [join(ROOT, 'deploy/bootstrap.sh'), 'build'], { stdio: 'inherit' })
  const entry = join(ROOT, 'test/hostile/agent.mjs')
  const next = `${HOSTILE_AGENT}.${process.pid}`
  await build({ entryPoints: [entry], outfile: next, bundle: true, platform: 'node', format: 'cjs' })
  renameSync(next, HOSTILE_AGENT)
  const link = join(BIN, 'turnpike')
  mkdirSync(BIN, { recursive: true })
  // An interrupted run may have left it.
  rmSync(`${link}.${process.pid}`, { force: true })
  symlinkSync(join(ROOT, 'src/cli/turnpike.sh'), `${link}.${process.pid}`)
  renameSync(`${link}.${process.pid}`, link)
  process.env['PATH'] = `${BIN}:${process.env['PATH']}`
}
