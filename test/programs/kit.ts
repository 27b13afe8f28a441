/** Where the programs of others are, and how a test is started that runs them. */
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { EXAMPLE_AGENTS, LAUNCHER, ROOT } from '../kit/gateway.ts'

/** What the test command installs here. */
const INSTALLED = join(import.meta.dirname, 'node_modules')

/** The path of a file of an installed package. */
export function installed(path: string): string {
  return join(INSTALLED, path)
}

/** The path of a file of an installed package of the large programs. */
export function installedLarge(path: string): string {
  return join(import.meta.dirname, 'large/node_modules', path)
}

/** The scripted model provider that agents are run against. */
export const PROVIDER = join(import.meta.dirname, 'fake-openai.mjs')

/** A scripted provider of the protocols that agents speak to their models: its module, and what is started of it. */
export const SCRIPTED_MODEL = join(import.meta.dirname, 'scripted-model.mjs')
export interface ScriptedModel {
  url: string
  /** The bodies of its requests, oldest first. */
  requests: Record<string, unknown>[]
  close(): Promise<void>
}

/** A suite that runs files from outside of this repository: skipped when one of them is not there, with its name. */
export function describeWith(name: string, files: readonly string[], tests: () => void): void {
  const missing = files.filter((file) => !existsSync(file)).map((file) => file.replace(`${ROOT}/`, ''))
  const why = missing.length > 0 ? ` (not there: ${missing.join(', ')})` : ''
  describe.skipIf(why !== '')(`${name}${why}`, tests)
}

/** A suite that runs large programs: skipped, with its name, unless `TEST_PROGRAMS=all`. */
export function describeLarge(name: string, files: readonly string[], tests: () => void): void {
  if (process.env['TEST_PROGRAMS'] === 'all') describeWith(name, files, tests)
  else describe.skipIf(true)(`${name} (not run: TEST_PROGRAMS=all runs it)`, tests)
}

/** A folder with a configuration for stand-ins. */
export interface Place {
  folder: string
  /** The configuration's path. */
  config: string
  /** A program of this name that is this project's launcher. */
  link(name: string): string
  remove(): void
}

/** Agents of the tests beside the examples: one that asks before it acts, one that fails, one that says nothing. */
const KIT = join(ROOT, 'test/kit/agents')
export const AGENTS = `${EXAMPLE_AGENTS}
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  failing: { protocol: agentproc, command: ${KIT}/exits.sh, args: [] }
  silent: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["MARK"] }
`

/** Makes a folder with a configuration of these agents. `mark` tells the silent agent's processes from those of other tests. */
export function makePlace(agents: string = AGENTS, mark = 'none'): Place {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-programs-'))
  const config = join(folder, 'turnpike.yaml')
  writeFileSync(
    config,
    `default: helper
limits: { grace: 300ms }
agents:${agents.replace('MARK', mark)}
store: { kind: sqlite, path: ./turnpike.db }
`,
  )
  return {
    folder,
    config,
    link(name) {
      const path = join(folder, name)
      if (!existsSync(path)) symlinkSync(LAUNCHER, path)
      return path
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What shows that a client is asked itself and answers with its next request: these clients, and only they, are. */
export const ASKED: Readonly<Record<string, string>> = {
  native: '"outcome":"parked"',
  'openai@responses': '"type":"mcp_approval_request"',
  openharness: '"action_type":"request_approval"',
}

/** Agents whose process ends badly, by how. `mark` tells the silent one's processes from those of other tests. */
export function badAgents(mark: string): Readonly<Record<string, string>> {
  return {
    'is killed in its answer': `protocol: zot, command: ${process.execPath}, args: [${KIT}/dies.mjs, zot]`,
    'leaves without an answer': `protocol: agentproc, command: ${KIT}/exits.sh, args: []`,
    'is silent for too long': `protocol: agentproc, command: ${KIT}/silent.sh, args: ["${mark}"], limits: { firstEvent: 300ms, total: 300ms, grace: 50ms }`,
    'writes what nobody can read': `protocol: zot, command: ${KIT}/rubbish.sh, args: [], limits: { start: 1s, grace: 50ms }`,
  }
}
