/** The part of an `AbortSignal` that timers need: the library's types need none of Node.js. */
export interface AbortSignalLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The longest time of a timer of Node.js, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Calls `callback` after this time, in milliseconds, unless the signal is aborted before. Returns a function that calls
 * it off. `callback` throws nothing: nobody would catch it.
 */
export function timeoutUntil(signal: AbortSignalLike, ms: number, callback: () => void): () => void {
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
