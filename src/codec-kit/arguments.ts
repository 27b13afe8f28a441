/** Flags, each with its value, that are added to arguments without them; `unless` are other names of a flag. */
export type DefaultFlags = readonly { add: readonly [flag: string, value?: string]; unless?: readonly string[] }[]

/** True when one of the flags is among the arguments, alone or as `--flag=value`. */
export function hasFlag(args: readonly string[], flags: readonly string[]): boolean {
  return args.some((arg) => flags.includes(arg.split('=', 1)[0]!))
}

/** The configured arguments of an agent, followed by each of the defaults whose flag is not among them. */
export function withDefaultFlags(configured: readonly string[], defaults: DefaultFlags): string[] {
  const missing = defaults.filter(({ add: [flag], unless = [] }) => !hasFlag(configured, [flag, ...unless]))
  return [...configured, ...missing.flatMap(({ add }) => add.filter((word) => word !== undefined))]
}
