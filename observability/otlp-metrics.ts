/** The gateway's metrics as OpenTelemetry data, for the SDK's reader. Only loaded when telemetry is on. */

import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import { defaultResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import { BOUNDS, type Metric, type Series } from './meters.ts'
import type { Metrics } from './metrics.ts'

/** The producer for the SDK's reader: all metrics that have a value. `version` is the gateway's. */
export function metricProducer(metrics: Metrics, version: string): MetricProducer {
  const startTime = hrTime(metrics.startedAt)
  return {
    async collect(): Promise<CollectionResult> {
      const endTime = hrTime(Date.now())
      const data = metrics
        .read()
        .filter(({ series }) => series.length > 0)
        .map((metric) => dataOf(metric, { startTime, endTime }))
      const scopeMetrics = [{ scope: { name: 'turnpike', version }, metrics: data }]
      // The reader replaces this by the SDK's own resource.
      return { resourceMetrics: { resource: defaultResource(), scopeMetrics }, errors: [] }
    },
  }
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>

function dataOf({ instrument, series }: Metric, times: Times): MetricData {
  const { kind, name, unit, help } = instrument
  const base = {
    descriptor: { name, unit, description: help, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  switch (kind) {
    case 'histogram':
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: points(series, times, histogramOf) }
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points(series, times, numberOf) }
    default: {
      const isMonotonic = kind === 'counter'
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic, dataPoints: points(series, times, numberOf) }
    }
  }
}

function points<T>(series: readonly Series[], times: Times, value: (one: Series) => T): DataPoint<T>[] {
  return series.map((one) => ({ ...times, attributes: one.labels as Attributes, value: value(one) }))
}

function numberOf({ value }: Series): number {
  return value
}

function histogramOf({ value, counts, count }: Series): Histogram {
  return { buckets: { boundaries: [...BOUNDS], counts: [...counts] }, sum: value, count }
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1e3), Math.round((ms % 1e3) * 1e6)]
}
