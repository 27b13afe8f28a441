import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BOUNDS, type Instrument, MAX_SERIES, Metric } from '../../observability/meters.ts'
import { prometheusText } from '../../observability/prometheus.ts'
import { readSamples } from './scraped.ts'

const COUNTER: Instrument = { kind: 'counter', name: 'a.b', unit: '{x}', labels: ['l.one', 'l.two'], help: 'Help.' }
const HISTOGRAM: Instrument = { kind: 'histogram', name: 'took', unit: 's', labels: ['who'], help: 'How long.' }

describe('a metric', () => {
  test('has one series for each set of labels; a label without a value is left out', () => {
    const metric = new Metric(COUNTER)
    metric.of('x', 'y').add(2)
    metric.of('x', 'y').add(3)
    metric.of('x', undefined).add(1)
    expect(metric.series.map(({ labels, value }) => ({ labels, value }))).toEqual([
      { labels: { 'l.one': 'x', 'l.two': 'y' }, value: 5 },
      { labels: { 'l.one': 'x' }, value: 1 },
    ])
  })

  test('never has more series than its limit, and loses no count', () => {
    const metric = new Metric(COUNTER)
    const extra = 20
    for (let n = 0; n < MAX_SERIES + extra; n += 1) metric.of('agent', String(n)).add(1)
    metric.of('agent', '0').add(1)
    const { series } = metric
    expect(series).toHaveLength(MAX_SERIES + 1)
    expect(series.at(-1)).toMatchObject({ labels: { 'otel.metric.overflow': 'true' }, value: extra })
    expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(MAX_SERIES + extra + 1)
  })

  test('forgets its series when it is told to', () => {
    const metric = new Metric(COUNTER)
    for (let n = 0; n <= MAX_SERIES; n += 1) metric.of(String(n)).add(1)
    metric.clear()
    expect(metric.series).toEqual([])
    metric.of('0').add(1)
    expect(metric.series.map(({ value }) => value)).toEqual([1])
  })
})

describe('a histogram', () => {
  test('counts every value in the first bucket that holds it', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 3_000, noNaN: true })), (values) => {
        const series = new Metric(HISTOGRAM).of('a')
        for (const value of values) series.record(value)
        const expected = [...BOUNDS, Number.POSITIVE_INFINITY].map(
          (bound, at) => values.filter((value) => value <= bound && value > (BOUNDS[at - 1] ?? -1)).length,
        )
        expect(series.counts).toEqual(expected)
        expect(series.count).toBe(values.length)
        expect(series.value).toBe(values.reduce((sum, value) => sum + value, 0))
      }),
    )
  })
})

describe('the text for Prometheus', () => {
  test('names a counter with _total, its unit in words, its labels without dots', () => {
    const metric = new Metric({ ...COUNTER, unit: 'By' })
    metric.of('x', 'y').add(2)
    expect(prometheusText([metric])).toBe(
      '# HELP a_b_bytes_total Help.\n# TYPE a_b_bytes_total counter\na_b_bytes_total{l_one="x",l_two="y"} 2\n',
    )
  })

  test('has the type of a gauge for what goes both ways, and only a head for what has no series', () => {
    expect(prometheusText([new Metric({ ...COUNTER, kind: 'updown' })])).toBe('# HELP a_b Help.\n# TYPE a_b gauge\n')
  })

  test('sums up the buckets of a histogram', () => {
    const metric = new Metric(HISTOGRAM)
    for (const value of [0.005, 0.015, 0.5, 9_000]) metric.of('a').record(value)
    const samples = readSamples(prometheusText([metric]))
    const buckets = [...samples].filter(([name]) => name.includes('_bucket')).map(([, count]) => count)
    expect(buckets).toEqual([1, 2, ...Array(4).fill(2), ...Array(12).fill(3), 4])
    expect(samples.get('took_seconds_bucket{le="0.02",who="a"}')).toBe(2)
    expect(samples.get('took_seconds_bucket{le="+Inf",who="a"}')).toBe(4)
    expect(samples.get('took_seconds_sum{who="a"}')).toBe(9_000.52)
    expect(samples.get('took_seconds_count{who="a"}')).toBe(4)
  })

  test('keeps a hostile value of a label on its line', () => {
    const metric = new Metric(HISTOGRAM)
    metric.of('a"\\\nb 1').record(0)
    expect(prometheusText([metric])).toContain('took_seconds_count{who="a\\"\\\\\\nb 1"} 1\n')
  })
})
