import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loginProblem, versionOf, versionProblem } from './agent-probe.ts'
import { takeNothing, takeOptions, UsageError } from './arguments.ts'
import { DEFAULT_CONFIG, usualFile } from './config-file.ts'
import { KNOWN_AGENTS, type KnownAgent } from './known-agents.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { findAgents } from './programs.ts'
import { Progress } from './progress.ts'
import { SCHEMA_FILE } from './schema-file.ts'

/** A known agent that is installed; its version if it has printed one. */
type Found = KnownAgent & { version: string | undefined }

/**
 * `turnpike init`: looks for known agents, and writes a configuration with them; with the example agents when there is
 * none. On a terminal it asks before it writes. An existing file stays, unless `--force` is given.
 */
export async function initCommand(args: string[]): Promise<number> {
  const written = await writeConfig(args)
  if (!written) return 1
  process.stdout.write(whatToTry(written))
  return 0
}

/** The file that was written, and its first agent. */
interface Written {
  file: string
  agent: string
}

/**
 * Writes the configuration and prints that, as `turnpike init` does, but without the commands to try. Undefined when
 * the user declines.
 */
export async function writeConfig(args: string[]): Promise<Written | undefined> {
  const { options, rest } = takeOptions(args, ['config'])
  const force = rest.includes('--force')
  takeNothing(rest.filter((argument) => argument !== '--force'))
  const file = usualFile(options.config)
  if (existsSync(file) && !force)
    throw new UsageError(`${file} is there already; to replace it: ${ownCommand()} init --force${namingConfig(file)}`)
  const progress = new Progress()
  progress.show('asking agents for their versions')
  const agents = await Promise.all(
    findAgents(process.env['PATH'] ?? '').map(async (agent) => ({ ...agent, version: await versionOf(agent.program) })),
  )
  progress.end()
  process.stdout.write(report(agents))
  if (!(await isWanted(file))) return undefined
  write(file, configText(agents))
  process.stdout.write(`Wrote ${file}.\n`)
  return { file, agent: agents[0]?.program ?? 'helper' }
}

/** Writes the file. Throws, with what to type instead, where this user may not. */
function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(
      `${file} cannot be written (${code}); write it where you may: ${ownCommand()} init --config ~/turnpike.yaml`,
    )
  }
}

/** The agents that were found, with what they still need, and those that were not. */
function report(agents: readonly Found[]): string {
  const rows = agents.map((agent) => {
    const { program, title, version, protocol } = agent
    const row = `  ${program.padEnd(9)} ${`${title} ${version ?? '(prints no version)'}`.padEnd(30)} protocol ${protocol}\n`
    const needs = [versionProblem(agent, version), loginProblem(agent, process.env)]
    return row + needs.map((need) => (need === undefined ? '' : `            ${need}\n`)).join('')
  })
  const found = new Set(agents.map(({ program }) => program))
  const missing = KNOWN_AGENTS.filter(({ program }) => !found.has(program)).map(({ program }) => program)
  const head =
    agents.length > 0 ? 'Agents on this machine:\n' : 'No known agent is on the PATH: the example agents are used.\n'
  return `${head}${rows.join('')}${missing.length > 0 ? `Not found: ${missing.join(', ')}\n` : ''}`
}

/** Asks on a terminal; elsewhere the answer is yes. */
async function isWanted(file: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`Write ${file}? [Y/n] `)
  terminal.close()
  return !/^\s*n/i.test(answer)
}

/** The configuration, as a file for people. */
function configText(agents: readonly Found[]): string {
  const entries = agents.length > 0 ? agents.map(entryOf) : exampleEntries()
  return `# yaml-language-server: $schema=${SCHEMA_FILE}
# Written by \`turnpike init\`. \`turnpike check\` shows what it comes to.
server:
  host: 127.0.0.1
  port: \${TURNPIKE_PORT:-8484}

default: ${agents[0]?.program ?? 'helper'}

agents:
${entries.join('')}
# Where a client cannot be asked itself, what an agent asks for is denied. To allow it:
# routes:
#   - { agent: ${agents[0]?.program ?? 'helper'}, approvals: allow }

store: { kind: sqlite, path: ./turnpike.db }
`
}

function entryOf({ program, title, version, protocol, args, inherit }: Found): string {
  const list = (words: readonly string[]): string => `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
  const inherited = inherit ? `, inherit: ${list(inherit)}` : ''
  return `  # ${title}${version === undefined ? '' : ` ${version}`}
  ${program}: { protocol: ${protocol}, command: ${program}, args: ${list(args)}${inherited} }
`
}

/** The agents of the default configuration, with absolute paths. */
function exampleEntries(): string[] {
  const agents = join(DEFAULT_CONFIG, '../agents')
  const node = JSON.stringify(process.execPath)
  const path = (name: string): string => JSON.stringify(join(agents, name))
  return [
    `  helper: { protocol: agentproc, command: ${path('helper.sh')}, args: [] }\n`,
    `  coder: { protocol: zot, command: ${node}, args: [${path('coder.mjs')}, rpc] }\n`,
    `  writer: { protocol: agentproc@0.4, command: ${node}, args: [${path('writer.mjs')}] }\n`,
    `  reviewer: { protocol: acp, command: ${node}, args: [${path('reviewer.mjs')}] }\n`,
  ]
}

function whatToTry({ file, agent }: Written): string {
  const config = namingConfig(file)
  const body = `{"model":"${agent}","messages":[{"role":"user","content":"hello"}]}`
  const command = ownCommand()
  return `Try:
  ${command} check${config}
  ${command} serve${config}
  curl -s http://127.0.0.1:8484/v1/chat/completions -H 'content-type: application/json' -d '${body}'
`
}
