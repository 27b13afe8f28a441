/** The most seconds that a header may name; more is a mistake, or too long to wait. */
const MOST_SECONDS = 86_400

/**
 * The time that a provider's answer asks to wait, in milliseconds, from its lower-case headers: `retry-after-ms`, or
 * `retry-after` (RFC 9110, section 10.2.3) in seconds or as a date, which is compared to the answer's own `date`.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const { 'retry-after-ms': inMs, 'retry-after': after, date = '' } = headers
  const seconds = inMs === undefined ? after : String(Number(inMs) / 1000)
  if (seconds === undefined || seconds.trim() === '') return undefined
  const ms = Number.isNaN(Number(seconds)) ? Date.parse(seconds) - Date.parse(date) : Math.ceil(Number(seconds) * 1000)
  return ms >= 0 && ms <= MOST_SECONDS * 1000 ? ms : undefined
}
