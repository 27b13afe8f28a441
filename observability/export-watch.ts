/** Warnings when an exporter begins to fail, and when it works again. */

/** The SDK's result of an export: code 0 is success. */
interface Result {
  code: number
  error?: Error
}

/** The exporter's signal and the receiver of its warnings. */
export interface ExportWatch {
  what: 'Traces' | 'Metrics' | 'Logs'
  url: URL
  /** The consequence when they do not arrive. */
  meaning: string
  warn: ((message: string) => void) | undefined
}

/** Takes the result of every export, and warns once when they begin to fail and once when they work again. */
export function exportWatch({ what, url, meaning, warn }: ExportWatch): (result: Result) => void {
  let failing = false
  return ({ code, error }) => {
    const failed = error !== undefined || code !== 0
    if (failed && !failing) warn?.(`${what} do not reach the collector at ${url.host} (${reason(error)}); ${meaning}.`)
    else if (!failed && failing) warn?.(`${what} reach the collector at ${url.host} again.`)
    failing = failed
  }
}

/** The error's code (`ECONNREFUSED`, an HTTP status): its message may hold the collector's answer. */
function reason(error: Error | undefined): string {
  const code = error !== undefined && 'code' in error ? error.code : undefined
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'no answer in time'
}
