/** True when one of the flags is among the arguments, alone or as `--flag=value`. */
export function hasFlag(args: readonly string[], flags: readonly string[]): boolean {
  return args.some((arg) => flags.includes(arg.split('=', 1)[0]!))
}

/**
 * The configured arguments of an agent, followed by each of the defaults whose flag, or another name of it (`unless`),
 * is not among them.
 */
export function withDefaultFlags(
  configured: readonly string[],
  defaults: readonly { add: readonly [flag: string, value?: string]; unless?: readonly string[] }[],
): string[] {
  const missing = defaults.filter(({ add: [flag], unless = [] }) => !hasFlag(configured, [flag, ...unless]))
  return [...configured, ...missing.flatMap(({ add }) => add.filter((word) => word !== undefined))]
}
