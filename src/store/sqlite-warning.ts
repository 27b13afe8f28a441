type EmitWarning = typeof process.emitWarning

/**
 * Runs `load` and suppresses the warning that Node 22 prints when `node:sqlite` is first loaded; other warnings pass.
 * `load` must be synchronous: the process's own `emitWarning` is back when this returns.
 */
export function withoutSqliteWarning<T>(load: () => T): T {
  const emit = process.emitWarning
  const filtered = (...args: Parameters<EmitWarning>): void => {
    if (!isSqliteWarning(args)) emit.apply(process, args)
  }
  process.emitWarning = filtered as EmitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emit
  }
}

function isSqliteWarning([warning, options]: readonly unknown[]): boolean {
  const type = typeof options === 'object' ? (options as { type?: string } | null)?.type : options
  return (
    type === 'ExperimentalWarning' && typeof warning === 'string' && warning.startsWith('SQLite is an experimental')
  )
}
