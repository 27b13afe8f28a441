/** How long a killed process may take to be gone; one stuck in the kernel is given up then. */
export const KILLED_MS = 2_000

/**
 * Sends a signal to the process group that `pid` leads, also when the leader itself has ended.
 * False when no process of it is left, or none that may be signalled.
 */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/**
 * SIGTERM to a process group, SIGKILL after `graceMs` (at once when that is 0). `giveUp` is called when the caller has
 * not called the returned cancel function some time after that: it has no bound otherwise.
 */
export function terminateGroup(pid: number, graceMs: number, giveUp: () => void): () => void {
  let timer: NodeJS.Timeout
  const kill = () => {
    signalGroup(pid, 'SIGKILL')
    timer = setTimeout(giveUp, KILLED_MS)
  }
  if (graceMs > 0) {
    signalGroup(pid, 'SIGTERM')
    timer = setTimeout(kill, graceMs)
  } else kill()
  return () => clearTimeout(timer)
}
