/** Geometry of small charts: a field of 600 by 120 units with the time from left to right. */

/** The size of a chart's field. */
export const CHART = { width: 600, height: 120 } as const

/** A bar of a chart. */
export interface Bar {
  x: number
  y: number
  width: number
  height: number
}

/** The round number at or above the highest value, which the top of a chart stands for; 1 for a chart without values. */
export function topOf(values: readonly number[]): number {
  const most = Math.max(0, ...values)
  if (most === 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= most * 0.999)!
}

/** One bar for each value, from `bases` (0 when absent) upwards. */
export function barsOf(values: readonly number[], top: number, bases: readonly number[] = []): Bar[] {
  const step = CHART.width / Math.max(1, values.length)
  return values.map((value, at) => {
    const height = (value / top) * CHART.height
    const base = ((bases[at] ?? 0) / top) * CHART.height
    return { x: at * step + step * 0.1, y: CHART.height - base - height, width: step * 0.8, height }
  })
}

/** The path of a line through values; it breaks where one is absent. */
export function pathOf(values: readonly (number | undefined)[], top: number): string {
  const step = CHART.width / Math.max(1, values.length)
  let path = ''
  let isDrawing = false
  for (const [at, value] of values.entries()) {
    if (value !== undefined) {
      const [x, y] = [(at + 0.5) * step, CHART.height - (value / top) * CHART.height]
      path += `${isDrawing ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
      // A point on its own is a short line.
      if (!isDrawing) path += 'h2'
    }
    isDrawing = value !== undefined
  }
  return path
}
