/** The shape of answers. `both` is one line that readers of either shape understand. */
export type Shape = 'flat' | 'protocol' | 'both'

/** The parsed command line. */
export type Mode =
  | { kind: 'host'; shape: Shape; stream: boolean; stdinMs: number | undefined }
  | { kind: 'self-test' }
  | { kind: 'refused'; shape: Shape; message: string }

interface Flags {
  protocol: string | undefined
  bridge: boolean
  stream: boolean
  stdinMs: number | undefined
}

/**
 * Reads the arguments of a stand-in for `zene`. Accepted: none at all (a bridge-compatible one-shot), `self-test`, and
 * `host` (which may be left out before flags) with `--protocol v1`, `--bridge-compat`, `--single-request` (bare or with
 * a boolean) and `--stdin-timeout-ms N`; values follow or are joined by `=`.
 */
export function readArgs(argv: readonly string[]): Mode {
  if (argv.length === 0) return { kind: 'host', shape: 'flat', stream: false, stdinMs: undefined }
  if (argv[0] === 'self-test') return { kind: 'self-test' }
  const flags: Flags = { protocol: undefined, bridge: false, stream: false, stdinMs: undefined }
  const message = readFlags(argv[0] === 'host' ? argv.slice(1) : argv, flags)
  const shape = shapeOf(flags)
  if (message !== undefined) return { kind: 'refused', shape, message }
  return { kind: 'host', shape, stream: flags.stream, stdinMs: flags.stdinMs }
}

/** A client that asks for neither shape gets a line with both; stream mode always has the protocol's. */
function shapeOf({ bridge, protocol, stream }: Flags): Shape {
  if (bridge) return 'flat'
  return protocol === undefined && !stream ? 'both' : 'protocol'
}

/** Fills in the flags; returns what is wrong with them, or undefined. */
function readFlags(args: readonly string[], flags: Flags): string | undefined {
  for (let at = 0; at < args.length; ) {
    const [name = args[at]!, joined] = /^(--[^=]*)=(.*)$/s.exec(args[at]!)?.slice(1) ?? []
    const next = args[at + 1]
    const following = next === undefined || next.startsWith('--') ? undefined : next
    const wrong = readFlag(name, joined, joined ?? following, flags)
    if (wrong !== undefined) return wrong
    at += joined === undefined && following !== undefined && name !== '--bridge-compat' ? 2 : 1
  }
  return undefined
}

function readFlag(
  name: string,
  joined: string | undefined,
  value: string | undefined,
  flags: Flags,
): string | undefined {
  switch (name) {
    case '--bridge-compat':
      if (joined !== undefined) return '--bridge-compat takes no value'
      flags.bridge = true
      return undefined
    case '--protocol':
      flags.protocol = value
      return value === 'v1' ? undefined : 'unsupported --protocol: only v1 is spoken'
    case '--single-request':
      flags.stream = value === 'false'
      return value === undefined || value === 'true' || value === 'false'
        ? undefined
        : '--single-request takes true or false'
    case '--stdin-timeout-ms':
      flags.stdinMs = wholeNumber(value)
      return flags.stdinMs === undefined ? '--stdin-timeout-ms takes a whole number of milliseconds' : undefined
    default:
      return 'unknown argument: use host with --protocol v1, --bridge-compat, --single-request and --stdin-timeout-ms, or self-test'
  }
}

/** The digits as a number that is safe to count with, or undefined. */
export function wholeNumber(digits: string | undefined): number | undefined {
  return digits !== undefined && /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
}
