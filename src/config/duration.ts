/** The longest time of Node's timers, in milliseconds (24.8 days); a longer one would fire at once. */
export const MAX_MS = 2_147_483_647

const TIME_UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const SIZE_UNITS = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, kB: 1000, KB: 1000, MB: 1e6, GB: 1e9 } as const

/**
 * A time such as `500ms`, `30s`, `10m`, `2h`, `1d` or a number of milliseconds, in whole milliseconds; undefined when
 * it is not a time or over `MAX_MS`.
 */
export function parseDuration(value: unknown): number | undefined {
  const ms = quantity(value, TIME_UNITS)
  return ms === undefined || ms > MAX_MS ? undefined : ms
}

/** A size such as `16MiB`, `10KiB`, `5MB` or a number of bytes, in whole bytes; undefined when it is not a size. */
export function parseSize(value: unknown): number | undefined {
  const bytes = quantity(value, SIZE_UNITS)
  return bytes === undefined || bytes > Number.MAX_SAFE_INTEGER ? undefined : bytes
}

/** Milliseconds in the largest unit that holds them exactly, such as `30s`. */
export function formatDuration(ms: number): string {
  return format(ms, ['d', 'h', 'm', 's', 'ms'], TIME_UNITS)
}

/** Bytes in the largest binary unit that holds them exactly, such as `16MiB`. */
export function formatSize(bytes: number): string {
  return format(bytes, ['GiB', 'MiB', 'KiB', 'B'], SIZE_UNITS)
}

/** Reads a number, or digits followed by a unit; rounds to whole units. */
function quantity(value: unknown, units: Readonly<Record<string, number>>): number | undefined {
  if (typeof value === 'number') return value >= 0 && Number.isFinite(value) ? Math.round(value) : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/.exec(value.trim())
  if (!match) return undefined
  const unit = match[2] === '' ? 1 : Object.hasOwn(units, match[2]!) ? units[match[2]!] : undefined
  return unit === undefined ? undefined : Math.round(Number(match[1]) * unit)
}

function format(amount: number, names: readonly string[], units: Readonly<Record<string, number>>): string {
  const unit = names.find((name) => amount >= units[name]! && amount % units[name]! === 0) ?? names.at(-1)!
  return `${amount / units[unit]!}${unit}`
}
