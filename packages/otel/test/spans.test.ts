import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPacer, type Pacer } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/got'
import { instrument } from '@hostpace/otel'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import got from 'got'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'

const a = 'https://a.example'
const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
})

beforeEach(() => exporter.reset())

afterAll(() => {
  context.disable()
  trace.disable()
})

/** Does something within a span. */
function within<T>(name: string, work: () => Promise<T>): Promise<T> {
  return trace.getTracer('test').startActiveSpan(name, async (span) => {
    try {
      return await work()
    } finally {
      span.end()
    }
  })
}

/** What the spans that have ended say, by name. */
function spans(): Record<string, unknown> {
  return Object.fromEntries(exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes]))
}

function instrumented(pacer: Pacer): Pacer {
  const end = instrument(pacer)
  onTestFinished(async () => {
    end()
    await pacer.close()
  })
  return pacer
}

test('each span says what its own request waited for', async () => {
  const clock = new ManualClock()
  const pacer = instrumented(createPacer({ intervalMs: 1000, clock }))
  const visit = (name: string) => within(name, () => pacer.run(a, () => {}))
  const visits = Promise.all(['first', 'second', 'third'].map(visit))
  await within('who moves the clock', () => clock.advanceAsync(2000))
  await visits
  const host = { 'hostpace.host': a }
  expect(spans()).toEqual({
    first: { ...host, 'hostpace.wait_ms': 0, 'hostpace.layer': 'none' },
    second: { ...host, 'hostpace.wait_ms': 1000, 'hostpace.layer': 'interval' },
    third: { ...host, 'hostpace.wait_ms': 2000, 'hostpace.layer': 'interval' },
    'who moves the clock': {},
  })
})

test('where one request ends and so lets another go, each span keeps its own', async () => {
  const clock = new ManualClock()
  const pacer = instrumented(createPacer({ rate: 1000, concurrency: 1, clock }))
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const first = within('first', () => pacer.run(a, () => ended))
  const second = within('second', () => pacer.run(a, () => {}))
  await clock.advanceAsync(500)
  end()
  await Promise.all([first, second])
  expect(spans()).toMatchObject({
    first: { 'hostpace.layer': 'none' },
    second: { 'hostpace.layer': 'concurrency', 'hostpace.wait_ms': 500 },
  })
})

test('it reaches the span around a request of a client', async () => {
  const server = createServer((_, response) => response.end('{}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = got.extend(pace(instrumented(createPacer({ intervalMs: 20 }))))
  await Promise.all(['one', 'two', 'three'].map((name) => within(name, () => client(url).text())))
  const said = Object.values(spans()) as { 'hostpace.host': string; 'hostpace.layer': string }[]
  expect(said.map((attributes) => attributes['hostpace.host'])).toEqual([url, url, url])
  expect(said.map((attributes) => attributes['hostpace.layer']).sort()).toEqual(['interval', 'interval', 'none'])
})

test('a span that has ended meanwhile is left alone, and so is a request without one', async () => {
  const clock = new ManualClock()
  const pacer = instrumented(createPacer({ intervalMs: 1000, clock }))
  await pacer.run(a, () => {})
  const waiting = await within('gives up', async () => [pacer.run(a, () => {})])
  await clock.advanceAsync(1000)
  await Promise.all(waiting)
  expect(spans()).toEqual({ 'gives up': {} })
})
