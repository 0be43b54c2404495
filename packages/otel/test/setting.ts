import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { type InstrumentOptions, instrument } from '@hostpace/otel'
import type { Meter } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { onTestFinished } from 'vitest'

/** One point of a metric: its value, and its attributes without those that all have. */
export type Point = [value: unknown, ...attributes: unknown[]]

interface Reader {
  readonly exporter: InMemoryMetricExporter
  readonly reader: PeriodicExportingMetricReader
}

/** A pacer on a clock of its own that is instrumented, and what the SDK would export of it. */
export class Setting {
  readonly clock = new ManualClock()
  readonly pacer: Pacer
  /** Ends what `instrument` began. */
  readonly end: () => void
  readonly meter: Meter
  readonly #readers: readonly Reader[]

  constructor(pacerOptions: PacerOptions, options: InstrumentOptions = {}) {
    this.#readers = [AggregationTemporality.CUMULATIVE, AggregationTemporality.DELTA].map((temporality) => {
      const exporter = new InMemoryMetricExporter(temporality)
      // It exports when it is told to.
      return { exporter, reader: new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 }) }
    })
    const provider = new MeterProvider({ readers: this.#readers.map(({ reader }) => reader) })
    this.meter = provider.getMeter('test')
    this.pacer = createPacer({ clock: this.clock, adapt: false, ...pacerOptions })
    this.end = instrument(this.pacer, { meter: this.meter, ...options })
    onTestFinished(async () => {
      await provider.shutdown()
      await this.pacer.close()
    })
  }

  /** All metrics by name, as a reader exports them now; the other reader does nothing meanwhile. */
  async metrics(temporality = AggregationTemporality.CUMULATIVE): Promise<Map<string, MetricData>> {
    const { exporter, reader } = this.#readers[temporality === AggregationTemporality.CUMULATIVE ? 0 : 1] as Reader
    exporter.reset()
    await reader.forceFlush()
    const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
    return new Map(scopes.flatMap(({ metrics }) => metrics).map((metric) => [metric.descriptor.name, metric]))
  }

  /** The points of a metric, as a reader exports them now. */
  async points(name: string, temporality?: AggregationTemporality): Promise<Point[]> {
    return pointsOf((await this.metrics(temporality)).get(name))
  }

  /** Sends requests that are over at once, and does not wait for them; what is refused is forgotten. */
  send(...urls: string[]): void {
    for (const url of urls) {
      this.pacer.wait(url).then(
        (permit) => permit.done(),
        () => {},
      )
    }
  }
}

/** The points of a metric: of a histogram the count and the sum, of others the value, and the attributes. */
export function pointsOf(metric: MetricData | undefined): Point[] {
  const { dataPoints = [] } = metric ?? {}
  return dataPoints.map(({ value, attributes }) => [
    typeof value === 'object' ? `${value.count} in ${value.sum}` : value,
    ...Object.values(attributes),
  ])
}
