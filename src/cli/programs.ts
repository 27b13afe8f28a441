import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { AgentConfig, Config } from '../config/index.ts'

/** The file of a program in the folders of `path` (the variable PATH); undefined when none has it. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isProgram)
}

/** A line for each agent whose program cannot be started, because it is not there or is not executable. */
export function missingPrograms({ agents }: Config, env: NodeJS.ProcessEnv): string[] {
  return [...agents.values()].flatMap((agent) => {
    const { name, command } = agent
    if (command === undefined || isThere(agent, env['PATH'] ?? '')) return []
    const where = command.includes('/') ? 'there is no such program' : 'it is not on the PATH'
    return [
      `agent ${name}: ${command} cannot be started: ${where}; install it, or correct agents.${name}.command, then run turnpike check again`,
    ]
  })
}

function isThere({ command = '', cwd, env }: AgentConfig, path: string): boolean {
  if (command.includes('/')) return isProgram(resolve(cwd, command))
  return findProgram(command, env['PATH'] ?? path) !== undefined
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
