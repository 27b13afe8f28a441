/** The longest time of a timer of Node.js, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Calls `callback` after this time, in milliseconds, unless the signal is aborted before. Returns a function that calls
 * it off. `callback` throws nothing: nobody would catch it.
 */
export function timeoutUntil(signal: AbortSignal, ms: number, callback: () => void): () => void {
  if (signal.aborted) return () => {}
  const stop = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
  const fire = (): void => {
    stop()
    callback()
  }
  const timer = setTimeout(fire, Math.min(ms, LONGEST_MS))
  signal.addEventListener('abort', stop)
  return stop
}
