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
 * A line for each agent whose program cannot be started, because it is not there or is not executable; `check` is the
 * command that checks the configuration.
 */
export function missingPrograms({ agents }: Config, env: NodeJS.ProcessEnv, check: string): string[] {
  return [...agents.values()].flatMap((agent) => {
    const { name, command } = agent
    if (command === undefined || programOf(agent, env) !== undefined) return []
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
export function programOf(
  { command = '', cwd, env }: AgentConfig,
  host: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (!command.includes('/')) return findProgram(command, env['PATH'] ?? host['PATH'] ?? '')
  const file = resolve(cwd, command)
  return isProgram(file) ? file : undefined
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
