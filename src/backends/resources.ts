/** What each process of an agent may take of the machine: sizes in bytes, `cpu` in milliseconds. */
export interface Resources {
  memory?: number
  cpu?: number
  files?: number
  processes?: number
  fileSize?: number
}

/**
 * The program that limits what runs under it, with its arguments: `prlimit` of util-linux, which sets the limits of
 * setrlimit(2) for itself and becomes the agent. Memory is what a program can write to (its data): limiting the address
 * space would keep programs from starting that reserve much and use little. Empty without limits.
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
