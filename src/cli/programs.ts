import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, join, resolve } from 'node:path'
import type { AgentConfig, Config } from '../config/index.ts'
import { installOf, KNOWN_AGENTS, type KnownAgent, knownAgent } from './known-agents.ts'

/** The launcher of this program: a link of an agent's name to it is a stand-in, and no agent. */
const LAUNCHER = 'turnpike.sh'

/** The known agents whose program is in a folder of `path` (the variable PATH). */
export function findAgents(path: string): KnownAgent[] {
  return KNOWN_AGENTS.filter(({ program }) => {
    const file = findProgram(program, path)
    return file !== undefined && !isLauncher(file)
  })
}

/** True for a program that is a stand-in of this gateway. */
export function isLauncher(file: string): boolean {
  return basename(realpathSync(file)) === LAUNCHER
}

/** The file of a program in the folders of `path` (the variable PATH); undefined when none has it. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isProgram)
}

/**
 * A line for each agent that cannot be started, because its program or folder is not there, or is not executable; `check` is the
 * command that checks the configuration.
 */
export function missingPrograms({ agents }: Config, env: NodeJS.ProcessEnv, check: string): string[] {
  return [...agents.values()].flatMap((agent) => {
    const { name, cwd } = agent
    const command = fileOf(agent)
    if (command === undefined) return []
    if (isTold(cwd) && !isFolder(cwd))
      return `agent ${name}: it cannot be started in ${cwd}: there is no such folder; make it, or correct agents.${name}.cwd, then run ${check} again`
    if (programOf(agent, env) !== undefined) return []
    if (/\s/.test(command) && findOf(agent, command.split(/\s/, 1)[0]!, env) !== undefined)
      return `agent ${name}: ${command} cannot be started: it is no name of a program; write what follows the first word into agents.${name}.args, then run ${check} again`
    const file = resolve(agent.cwd, command)
    if (command.includes('/') && isFile(file))
      return `agent ${name}: ${command} cannot be started: it is not executable; type: chmod +x ${file}`
    const where = command.includes('/') ? 'there is no such program' : 'it is not on the PATH'
    const install = installOf(knownAgent(command))
    const how = install === undefined ? '' : ` (${install})`
    return `agent ${name}: ${command} cannot be started: ${where}; install it${how}, or correct agents.${name}.command, then run ${check} again`
  })
}

/** A line for each known agent that is configured with a protocol which it does not speak. Any program may print text (`agentproc`). */
export function wrongProtocols({ agents }: Config, check: string): string[] {
  return [...agents.values()].flatMap(({ name, command, args, protocol }) => {
    const known = command === undefined ? undefined : knownAgent(command, args)
    const [codec = ''] = protocol.split('@')
    if (!known || [known.protocol, 'agentproc', ...(known.also ?? [])].includes(codec)) return []
    return `agent ${name}: ${known.program} does not speak ${protocol}; write protocol: ${known.protocol}, then run ${check} again`
  })
}

/** The file that an agent's command is; undefined when it cannot be started. */
export function programOf(agent: AgentConfig, host: Readonly<Record<string, string | undefined>>): string | undefined {
  return findOf(agent, fileOf(agent) ?? '', host)
}

/** The file of a program that an agent would start; undefined when there is none. */
function findOf(
  { cwd, env }: AgentConfig,
  program: string,
  host: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (!program.includes('/')) return findProgram(program, env['PATH'] ?? host['PATH'] ?? '')
  const file = resolve(cwd, program)
  return isProgram(file) ? file : undefined
}

/** The program of an agent's command, which has its arguments too where its protocol splits it; undefined for a server. */
function fileOf({ command, args, protocol, dialect }: AgentConfig): string | undefined {
  const isLine = args === undefined && protocol === 'agentproc' && dialect === '0.1'
  return isLine ? command?.trim().split(/\s/, 1)[0] : command
}

/** False for a folder that only the codec resolves, because it has a variable of the turn. */
function isTold(folder: string): boolean {
  return !/\$\{|\{\{/.test(folder)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return isFile(file)
  } catch {
    return false
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
