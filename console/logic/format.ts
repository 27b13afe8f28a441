/** Texts for numbers and times, as the pages show them. */

/** Milliseconds as a person reads them: `420 ms`, `3.2 s`, `4 m 05 s`, `2 h 03 m`. Absent: a dash. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return '–'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  const minutes = Math.floor(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`
}

/** A count in at most four characters and a unit: `950`, `12.3k`, `4.1M`. Absent: a dash. */
export function count(value: number | undefined): string {
  if (value === undefined) return '–'
  if (value < 1_000) return String(Math.round(value * 10) / 10)
  if (value < 999_950) return `${trim(value / 1_000)}k`
  return `${trim(value / 1_000_000)}M`
}

/** US dollars, with as many digits as a small amount needs. Absent: a dash. */
export function cost(usd: number | undefined): string {
  if (usd === undefined) return '–'
  if (usd === 0) return '$0'
  if (usd < 0.01) return `$${usd.toPrecision(2)}`
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`
}

/** A count with all its digits, in groups of three: `12,345`. Absent: `no`. */
export function exact(value: number | undefined): string {
  return value === undefined ? 'no' : value.toLocaleString('en-US')
}

/** A number of characters or bytes: `812`, `12.4 k`, `9.5 M`. */
export function size(amount: number): string {
  if (amount < 1_000) return String(amount)
  return amount < 1_000_000 ? `${trim(amount / 1_000)} k` : `${trim(amount / 1_000_000)} M`
}

/** The local time of day of a time since the epoch, to the second. */
export function clock(at: number): string {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
}

/** The local time of a time since the epoch: of today to the second, of other days with the date, to the minute. */
export function moment(at: number, now: number): string {
  const [day, time] = dateTime(at).split(' ') as [string, string]
  return dateTime(now).startsWith(day) ? time : `${day.slice(5)} ${time.slice(0, 5)}`
}

/** The local date and time of a time since the epoch. */
export function dateTime(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(at)}`
}

/** The time zone of a local time since the epoch: `UTC`, `UTC+1`, `UTC-3:30`. */
export function zone(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const rest = Math.abs(minutes) % 60
  return `UTC${minutes < 0 ? '-' : '+'}${Math.floor(Math.abs(minutes) / 60)}${rest === 0 ? '' : `:${two(rest)}`}`
}

/** The age of a time, in one unit. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

function trim(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0).replace(/\.0$/, '')
}
