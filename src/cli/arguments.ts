/** An error of a command line; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** True for a `UsageError`, also one of another file of the built program, which has a class of its own. */
export function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && error.name === 'UsageError'
}

/**
 * Takes `--name VALUE` and `--name=VALUE` out of a command line for the given names, up to a `--`. The other arguments
 * keep their order: those of a stand-in belong to its protocol.
 */
export function takeOptions<N extends string>(
  args: readonly string[],
  names: readonly N[],
): { options: Partial<Record<N, string>>; rest: string[] } {
  const options: Partial<Record<N, string>> = {}
  const rest: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at]!
    if (argument === '--') return { options, rest: [...rest, ...args.slice(at)] }
    const name = names.find((known) => argument === `--${known}` || argument.startsWith(`--${known}=`))
    if (name === undefined) rest.push(argument)
    else {
      const isOne = argument.includes('=')
      const value = isOne ? argument.slice(argument.indexOf('=') + 1) : args[at + 1]
      // An empty one is a variable of a script that is not set.
      if (!value) throw new UsageError(`--${name} needs a value`)
      options[name] = value
      if (!isOne) at += 1
    }
  }
  return { options, rest }
}

/** Throws a `UsageError` when arguments are left over. */
export function takeNothing(rest: readonly string[]): void {
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}"`)
}

/** True when the usage of a command is requested. The own arguments of stand-ins and tested programs are ignored. */
export function wantsHelp(command: string, args: readonly string[]): boolean {
  const own = command === 'as' ? args.slice(0, 1) : args.slice(0, [...args, '--'].indexOf('--'))
  return own.includes('--help') || own.includes('-h')
}
