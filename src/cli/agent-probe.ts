import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentConfig, Config } from '../config/index.ts'
import { installOf, type KnownAgent, knownAgent, type Login, type LoginFile } from './known-agents.ts'
import { namingConfig, ownCommand } from './own-command.ts'
import { isLauncher, missingPrograms, programOf, wrongProtocols } from './programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The variables of the gateway that every agent gets and that lead to a login. */
const SHARED = ['PATH', 'HOME'] as const

/**
 * A line for each known agent that has no login or too old a version, with the next command to type. Looks at files and
 * variables, and asks programs for their version: nothing is sent to a provider.
 */
export async function agentProblems({ agents }: Config, host: Environment): Promise<string[]> {
  const found = await Promise.all([...agents.values()].map((agent) => problemsOf(agent, host)))
  return found.flat()
}

/** A line for each agent of a file that cannot work here, with what to do. Starts nothing, so it asks for no versions. */
export function agentNeeds(config: Config, host: NodeJS.ProcessEnv, file: string): string[] {
  const check = `${ownCommand()} check${namingConfig(file)}`
  return [...missingPrograms(config, host, check), ...wrongProtocols(config, check), ...loginProblems(config, host)]
}

function loginProblems({ agents }: Config, host: Environment): string[] {
  return [...agents.values()].flatMap((agent) => {
    const probed = probe(agent, host)
    return probed ? lines(agent, loginProblem(probed.known, probed.env, host)) : []
  })
}

/** A known agent that can be started here, its file, and its environment. */
interface Probed {
  known: KnownAgent
  program: string
  env: Environment
}

function probe(agent: AgentConfig, host: Environment): Probed | undefined {
  const known = agent.command === undefined ? undefined : knownAgent(agent.command, agent.args)
  const program = known && programOf(agent, host)
  if (!known || program === undefined || isLauncher(program)) return undefined
  return { known, program, env: environmentOf(agent, host) }
}

async function problemsOf(agent: AgentConfig, host: Environment): Promise<string[]> {
  const probed = probe(agent, host)
  if (!probed) return []
  const { known, program, env } = probed
  const version = known.since === undefined ? undefined : versionProblem(known, await versionOf(program, env))
  return lines(agent, version, loginProblem(known, env, host))
}

function lines({ name }: AgentConfig, ...problems: readonly (string | undefined)[]): string[] {
  return problems.flatMap((problem) => (problem === undefined ? [] : `agent ${name}: ${problem}`))
}

/** The part of an agent's environment that the gateway decides, and what it inherits of `host`. */
function environmentOf({ inherit, env }: AgentConfig, host: Environment): Environment {
  return { ...Object.fromEntries([...SHARED, ...inherit].map((name) => [name, host[name]])), ...env }
}

/**
 * The message about a version that is older than the oldest known to work, with the command that updates it; undefined
 * when it is not, or unknown.
 */
export function versionProblem(agent: KnownAgent, version: string | undefined): string | undefined {
  const { program, since } = agent
  if (since === undefined || version === undefined || !isOlder(version, since)) return undefined
  return `${program} ${version} is older than ${since}, the oldest version that is known to work; type: ${installOf(agent)}`
}

/** True when the numbers of a version are less than those of another, as far as that one has them. */
function isOlder(version: string, since: string): boolean {
  const numbers = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [at, least] of since.split('.').map(Number).entries()) {
    const number = numbers[at] ?? 0
    if (number !== least) return number < least
  }
  return false
}

/**
 * The message about an agent that finds no login in this environment, with the command that makes one; undefined when
 * there is a sign of one, or when it cannot be known. `host` is the environment of the gateway, whose variables it may
 * not inherit.
 */
export function loginProblem(
  { program, login }: KnownAgent,
  env: Environment,
  host: Environment = env,
): string | undefined {
  if (!login || (login.keychain && process.platform === 'darwin') || isLoggedIn(login, env)) return undefined
  const kept = Object.keys(host).find((name) => host[name] && login.variables.test(name))
  if (kept !== undefined) return `it has no login, because it does not inherit ${kept}; add inherit: [${kept}]`
  return `no login of ${program} was found; type: ${login.command}`
}

function isLoggedIn({ variables, files }: Login, env: Environment): boolean {
  return Object.keys(env).some((name) => env[name] && variables.test(name)) || files.some((file) => isKept(file, env))
}

function isKept([variable, folder, name, says]: LoginFile, env: Environment): boolean {
  const file = join(env[variable] || join(env['HOME'] ?? '/', folder), name)
  if (!existsSync(file)) return false
  try {
    return says === undefined || says.test(readFileSync(file, 'utf8'))
  } catch {
    // The program exists and prints no version.
    return true
  }
}

/** Asks a program for its version; undefined when it prints none within 10 s. */
export async function versionOf(program: string, env: Environment = process.env): Promise<string | undefined> {
  const { execFile } = await import('node:child_process')
  return new Promise((resolve) => {
    const options = { timeout: 10_000, killSignal: 'SIGKILL', env } as const
    const child = execFile(program, ['--version'], options, (error, stdout) => {
      resolve(error ? undefined : /\d+\.\d+(?:[.+-]?\w)*/.exec(stdout)?.[0])
    })
    child.stdin?.end()
  })
}
