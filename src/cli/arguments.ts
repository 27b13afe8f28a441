/** What is wrong with a command line; the exit code is 2. */
export class UsageError extends Error {}

/**
 * Takes `--name VALUE` and `--name=VALUE` out of a command line for the given names, up to a `--`. What is left keeps its
 * order: a stand-in's own arguments are not ours to judge.
 */
export function takeOptions<N extends string>(
  args: readonly string[],
  names: readonly N[],
): { options: Partial<Record<N, string>>; rest: string[] } {
  const options: Partial<Record<N, string>> = {}
  const rest: string[] = []
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at]!
    const name = names.find((known) => argument === `--${known}` || argument.startsWith(`--${known}=`))
    if (name === undefined) rest.push(argument)
    else if (argument.includes('=')) options[name] = argument.slice(argument.indexOf('=') + 1)
    else {
      const value = args[at + 1]
      if (value === undefined) throw new UsageError(`--${name} needs a value`)
      options[name] = value
      at += 1
    }
  }
  return { options, rest }
}
