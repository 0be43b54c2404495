import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/got'
import { instrument } from '@hostpace/otel'
import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import got from 'got'
import { localServer } from './local-server.ts'

// The SDK, as you have it already; here it prints all that it is told.
const reader = new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })
const meters = new MeterProvider({ readers: [reader] })
metrics.setGlobalMeterProvider(meters)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }),
)

const server = await localServer()
const pacer = createPacer({ intervalMs: 200 })
const end = instrument(pacer)
const client = got.extend(pace(pacer))

// Each span says how long its request waited, and for which layer.
const visit = (path: string) =>
  trace.getTracer('examples').startActiveSpan(`visit ${path}`, async (span) => {
    await client(server.url + path)
    span.end()
  })
await Promise.all(['a', 'b', 'c', 'd'].map(visit))

end()
await meters.shutdown()
await pacer.close()
await server.finish(200)
