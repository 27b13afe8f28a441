/** The resource limits of each process of an agent: sizes in bytes, `cpu` in milliseconds. */
export interface Resources {
  memory?: number
  cpu?: number
  files?: number
  processes?: number
  fileSize?: number
}

/**
 * The command prefix that limits a program: `prlimit` of util-linux, which sets the limits of setrlimit(2) for itself
 * and becomes the agent. Memory is writable memory (data): a limit on the address space would stop programs that
 * reserve much and use little. Empty without limits.
 */
export function resourceLimiter({ memory, cpu, files, processes, fileSize }: Resources): string[] {
  const limits = [
    memory !== undefined && `--data=${memory}`,
    cpu !== undefined && `--cpu=${Math.ceil(cpu / 1000)}`,
    files !== undefined && `--nofile=${files}`,
    processes !== undefined && `--nproc=${processes}`,
    fileSize !== undefined && `--fsize=${fileSize}`,
  ].filter((limit) => limit !== false)
  return limits.length > 0 ? ['prlimit', '--core=0', ...limits, '--'] : []
}
