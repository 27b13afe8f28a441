/** The longest wait for a killed process, in milliseconds; one that is stuck in the kernel is given up then. */
export const KILLED_MS = 2_000

/**
 * Sends a signal to the process group that `pid` leads, also when the leader itself has ended. False when no process of
 * it is left or may be signalled.
 */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}

/** Calls `giveUp` after these milliseconds. Returns a function that cancels it. */
export function giveUpLater(ms: number, giveUp: () => void): () => void {
  const timer = setTimeout(giveUp, ms)
  return () => clearTimeout(timer)
}

/**
 * Sends SIGTERM to a process group, and SIGKILL after `graceMs` (at once when that is 0). If the caller does not call
 * the returned cancel function, `giveUp` is called `KILLED_MS` after that, so that the wait is bounded.
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
