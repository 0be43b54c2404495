import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { type InstrumentOptions, instrument } from '@hostpace/otel'
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

/** A pacer on a clock of its own that is instrumented, and what the SDK would export of it. */
export class Setting {
  readonly clock = new ManualClock()
  readonly pacer: Pacer
  /** Ends what `instrument` began. */
  readonly end: () => void
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #provider: MeterProvider

  constructor(pacerOptions: PacerOptions, options: InstrumentOptions = {}) {
    // It exports when it is told to.
    const reader = new PeriodicExportingMetricReader({ exporter: this.#exporter, exportIntervalMillis: 2 ** 31 - 1 })
    this.#provider = new MeterProvider({ readers: [reader] })
    this.pacer = createPacer({ clock: this.clock, adapt: false, ...pacerOptions })
    this.end = instrument(this.pacer, { meter: this.#provider.getMeter('test'), ...options })
    onTestFinished(async () => {
      await this.#provider.shutdown()
      await this.pacer.close()
    })
  }

  /** All metrics by name, as they are exported now. */
  async metrics(): Promise<Map<string, MetricData>> {
    this.#exporter.reset()
    await this.#provider.forceFlush()
    const scopes = this.#exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
    return new Map(scopes.flatMap(({ metrics }) => metrics).map((metric) => [metric.descriptor.name, metric]))
  }

  /** The points of a metric: of a histogram the count and the sum, of others the value, and the attributes. */
  async points(name: string): Promise<Point[]> {
    const { dataPoints = [] } = (await this.metrics()).get(name) ?? {}
    return dataPoints.map(({ value, attributes }) => [
      typeof value === 'object' ? `${value.count} in ${value.sum}` : value,
      ...Object.values(attributes),
    ])
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
