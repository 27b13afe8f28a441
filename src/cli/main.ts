import { basename } from 'node:path'
import { protocolOfProgram } from '../../codecs/index.ts'
import { isUsageError, wantsHelp } from './arguments.ts'
import { Output } from './output.ts'

/** The commands; each is loaded only when it is called. A command returns the exit code, or throws a `UsageError`. */
const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  'quick-start': async (args) => (await import('./quick-start.ts')).quickStartCommand(args),
  serve: async (args) => (await import('./serve.ts')).serveCommand(args),
  as: async (args) => (await import('./as.ts')).asCommand(args),
  conformance: async (args) => (await import('./conformance.ts')).conformanceCommand(args),
  translate: async (args) => (await import('./translate.ts')).translateCommand(args),
  matrix: async (args) => (await import('./matrix.ts')).matrixCommand(args),
  tail: async (args) => (await import('./tail.ts')).tailCommand(args),
  store: async (args) => (await import('./store.ts')).storeCommand(args),
  init: async (args) => (await import('./new-config.ts')).initCommand(args),
  check: async (args) => (await import('./check.ts')).checkCommand(args),
  completion: async (args) => (await import('./completion.ts')).completionCommand(args),
  version: async () => (await import('./version.ts')).versionCommand(),
  help: async ([name]) => (await import('./usage.ts')).helpCommand(name),
}

async function main(args: string[]): Promise<number> {
  if (process.pid === 1) (await import('./init.ts')).becomeInit()
  // Called through a link: act as the program of the link's name.
  const standIn = protocolOfProgram(basename(process.env['TURNPIKE_NAME'] ?? ''))
  const [name, ...rest] = standIn ? ['as', standIn, ...args] : named(args)
  const wanted = { '--help': 'help', '-h': 'help', '--version': 'version', '-v': 'version' }[name] ?? name
  const command = Object.hasOwn(COMMANDS, wanted) ? COMMANDS[wanted] : undefined
  // A stand-in handles its output itself, by its protocol's rules.
  if (command && wanted === 'as' && !wantsHelp(wanted, rest)) return run(wanted, command, rest)
  const output = new Output()
  if (!command) return output.flushed((await import('./usage.ts')).unknownCommand(name))
  const asked = wantsHelp(wanted, rest) ? COMMANDS['help']!([wanted]) : run(wanted, command, rest)
  return output.flushed(await asked)
}

/** The arguments with a command in front: without one, or with options alone, the quick start. */
function named(args: string[]): [string, ...string[]] {
  const [name = '', ...rest] = args
  return name === '' || /^--(?!help$|version$)/.test(name) ? ['quick-start', ...args] : [name, ...rest]
}

async function run(wanted: string, command: (args: string[]) => Promise<number>, rest: string[]): Promise<number> {
  try {
    return await command(rest)
  } catch (error) {
    if (!isUsageError(error)) throw error
    const { ownCommand } = await import('./own-command.ts')
    process.stderr.write(`turnpike ${wanted}: ${error.message}; see ${ownCommand()} help ${wanted}\n`)
    return 2
  }
}

main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  async (error: unknown) => {
    process.stderr.write(`turnpike: ${error instanceof Error ? error.message : String(error)}\n`)
    const next = (await import('./next-step.ts')).nextStep(error, process.argv.slice(2))
    if (next !== undefined) process.stderr.write(`${next}\n`)
    process.exit(3)
  },
)
