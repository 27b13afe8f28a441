import type { ComponentChildren } from 'preact'
import { barsOf, CHART, pathOf, topOf } from '../logic/chart.ts'

/** One row of values of a chart, under the name that its legend shows. */
export interface Series {
  name: string
  /** The class of the style sheet, which has its colour. */
  tone: string
  values: readonly (number | undefined)[]
}

interface ChartProps {
  title: string
  /** The newest or the summed value, in large letters. */
  figure: ComponentChildren
  series: readonly Series[]
  format(value: number): string
  /** Bars are stacked in the order of the series; lines are not. */
  form: 'bars' | 'lines'
}

/** A small chart of the last hour, a value a minute. */
export function Chart({ title, figure, series, format, form }: ChartProps) {
  const sums = series[0]!.values.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0))
  const top = topOf(form === 'bars' ? sums : series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const summary = series.map(
    ({ name, values }) => `${name}: at most ${format(Math.max(0, ...values.map((value) => value ?? 0)))}`,
  )
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <b class="figure">{figure}</b>
        {series.length > 1 && (
          <span class="legend">
            {series.map(({ name, tone }) => (
              <span key={name} class={tone}>
                {name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <svg
        viewBox={`0 0 ${CHART.width} ${CHART.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, a value a minute. ${summary.join('; ')}.`}
      >
        <line class="grid" x2={CHART.width} y1={0.5} y2={0.5} />
        <line class="grid" x2={CHART.width} y1={CHART.height / 2} y2={CHART.height / 2} />
        <line class="base" x2={CHART.width} y1={CHART.height - 0.5} y2={CHART.height - 0.5} />
        {form === 'bars' ? <Bars series={series} top={top} /> : <Lines series={series} top={top} />}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>60 min ago</span>
        <span>top: {format(top)}</span>
        <span>now</span>
      </div>
    </figure>
  )
}

function Bars({ series, top }: { series: readonly Series[]; top: number }) {
  const bases: number[] = []
  return (
    <>
      {series.map(({ name, tone, values }) => {
        const bars = barsOf(
          values.map((value) => value ?? 0),
          top,
          [...bases],
        )
        for (const [at, value] of values.entries()) bases[at] = (bases[at] ?? 0) + (value ?? 0)
        return (
          <g key={name} class={tone}>
            {bars.map(({ height, ...bar }) => height > 0 && <rect key={bar.x} height={height} {...bar} />)}
          </g>
        )
      })}
    </>
  )
}

function Lines({ series, top }: { series: readonly Series[]; top: number }) {
  return (
    <>
      {series.map(({ name, tone, values }) => (
        <path key={name} class={tone} d={pathOf(values, top)} />
      ))}
    </>
  )
}
