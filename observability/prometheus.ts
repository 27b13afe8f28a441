/**
 * Metrics as Prometheus text (exposition format 0.0.4), under the names that OpenTelemetry's own mapping gives them.
 */

import { BOUNDS, type Instrument, type Labels, type Metric, type Series } from './meters.ts'

/** The content type of the text. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' }

/** A metric's name: underscores for dots, the unit as suffix, and `_total` after a counter's. */
export function prometheusName({ name, unit, kind }: Instrument): string {
  return `${plain(name)}${SUFFIXES[unit] ?? ''}${kind === 'counter' ? '_total' : ''}`
}

/** All metrics, each with its help and type; a metric without series has only these. */
export function prometheusText(metrics: Iterable<Metric>): string {
  return [...metrics].map(family).join('')
}

function family({ instrument, series }: Metric): string {
  const name = prometheusName(instrument)
  const type = instrument.kind === 'updown' ? 'gauge' : instrument.kind
  const lines = [`# HELP ${name} ${instrument.help}`, `# TYPE ${name} ${type}`]
  for (const one of series) {
    if (type === 'histogram') lines.push(...histogram(name, one))
    else lines.push(`${name}${braces(one.labels)} ${one.value}`)
  }
  return `${lines.join('\n')}\n`
}

function histogram(name: string, { labels, counts, value }: Series): string[] {
  let sum = 0
  const buckets = counts.map((count, at) => {
    sum += count
    return `${name}_bucket${braces({ ...labels, le: String(BOUNDS[at] ?? '+Inf') })} ${sum}`
  })
  return [...buckets, `${name}_sum${braces(labels)} ${value}`, `${name}_count${braces(labels)} ${sum}`]
}

function braces(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${plain(name)}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function plain(name: string): string {
  return name.replaceAll('.', '_')
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
