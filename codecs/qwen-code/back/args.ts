const PINNING: ReadonlySet<string> = new Set(['--session-id', '--resume', '-r', '--continue', '-c', '--fork-session'])
const RESUMING: ReadonlySet<string> = new Set(['--resume', '-r', '--continue', '-c', '--fork-session'])

/** True when one of the flags is among the arguments, alone or as `--flag=value`. */
function has(args: readonly string[], flags: ReadonlySet<string>): boolean {
  return args.some((arg) => flags.has(arg.split('=', 1)[0]!))
}

/** True when the configuration itself says which session the process works in. */
export function pinsSession(configured: readonly string[]): boolean {
  return has(configured, PINNING)
}

/** True when a process with these arguments goes on with a session that has a past. */
export function resumesSession(configured: readonly string[]): boolean {
  return has(configured, RESUMING)
}

/**
 * The arguments to start the CLI with: the configured ones, what this dialect needs where they do not say it, and the
 * session to go on with. The approval mode is always given, because its default differs between versions.
 */
export function processArgs(configured: readonly string[], resume: string | undefined): string[] {
  const args = [...configured]
  const need = (flags: readonly string[], ...added: string[]): void => {
    if (!has(configured, new Set(flags))) args.push(...added)
  }
  need(['--input-format'], '--input-format', 'stream-json')
  need(['--output-format', '-o'], '--output-format', 'stream-json')
  need(['--include-partial-messages'], '--include-partial-messages')
  need(['--approval-mode', '--yolo', '-y'], '--approval-mode', 'default')
  if (resume !== undefined) args.push('--resume', resume)
  return args
}
