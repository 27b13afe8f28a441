/** Numbers of many rounds. */

/** The value in the middle; of an even count the mean of the two. NaN of none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which this share of them lies, between the two nearest. NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)]
  const high = sorted[Math.ceil(at)]
  return low === undefined || high === undefined ? Number.NaN : low + (high - low) * (at - Math.floor(at))
}
