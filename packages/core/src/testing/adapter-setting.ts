import assert from 'node:assert/strict'
import { createPacer, type Pacer } from '../pacer.ts'
import type { PacerOptions } from '../pacer-options.ts'
import type { AdapterDriver, DriverRequest, DriverResponse, PacedClient } from './adapter-driver.ts'
import { ManualClock } from './manual-clock.ts'
import { startProxy } from './proxy-server.ts'
import { startTarget, type Target } from './target-server.ts'
import { type Transport, usesProxy } from './transport.ts'

/** A request under way, watched so that its failure is nobody's unhandled rejection. */
export interface Sent {
  readonly state: 'pending' | 'done' | 'failed'
  /** The response; throws what the request failed with. */
  response(): Promise<DriverResponse>
  /** What the request fails with; throws if it succeeds. */
  error(): Promise<unknown>
  /** Resolves when it has ended either way. */
  settled(): Promise<void>
}

/** What a scenario plays with. */
export interface AdapterSetting {
  readonly driver: AdapterDriver
  readonly clock: ManualClock
  readonly a: Target
  readonly b: Target
  readonly pacer: Pacer
  /** Paced by `pacer`. */
  readonly client: PacedClient
  /** The keys of the departures that `pacer` granted, in order. */
  readonly departures: string[]
  /** The statuses that `pacer` was told of, each with its key. */
  readonly answers: [key: string, status: number | undefined][]
  /** Sends with `client`, or with another one. */
  send(request: DriverRequest, client?: PacedClient): Sent
  newPacer(options: PacerOptions): Pacer
  newClient(...pacers: Pacer[]): Promise<PacedClient>
  /** Resolves as soon as so many requests wait at `pacer`. */
  waiting(count: number, pacer?: Pacer): Promise<void>
  /** Resolves as soon as so many requests are in flight at `pacer`. */
  inFlight(count: number, pacer?: Pacer): Promise<void>
  /** Throws unless every request came over the transport, and the proxy was no host that anybody paced. */
  checkTransport(): void
  close(): Promise<void>
}

/** Starts the servers, and makes the pacer and the client. */
export async function openSetting(
  driver: AdapterDriver,
  transport: Transport,
  options: PacerOptions,
): Promise<AdapterSetting> {
  const clock = new ManualClock()
  const [a, b] = await Promise.all([startTarget(transport), startTarget(transport)])
  const proxy = usesProxy(transport) ? await startProxy() : undefined
  const pacers: Pacer[] = []
  const clients: PacedClient[] = []

  function newPacer(options: PacerOptions): Pacer {
    const made = createPacer({ adapt: false, clock, ...options })
    pacers.push(made)
    return made
  }

  async function newClient(...by: Pacer[]): Promise<PacedClient> {
    const made = await driver.create(by, { transport, proxyUrl: proxy?.url })
    clients.push(made)
    return made
  }

  const declares = options.rate !== undefined || options.intervalMs !== undefined || options.quotas !== undefined
  const pacer = newPacer(declares ? options : { intervalMs: 1000, ...options })
  const departures: string[] = []
  const answers: [string, number | undefined][] = []
  pacer.on('depart', ({ key }) => void departures.push(key))
  pacer.on('observe', ({ key, status }) => void answers.push([key, status]))
  const client = await newClient(pacer)
  const total = (of = pacer) => of.stats().total

  return {
    ...{ driver, clock, a, b, pacer, client, departures, answers, newPacer, newClient },
    send: (request, by = client) => watch(by.send(request)),
    waiting: (count, of) => until(() => total(of).queued === count, `${count} waiting requests`),
    inFlight: (count, of) => until(() => total(of).inFlight === count, `${count} requests in flight`),
    checkTransport() {
      for (const { httpVersion, clientPort } of [...a.hits, ...b.hits]) {
        assert.equal(httpVersion, transport === 'HTTP/2' ? '2.0' : '1.1')
        if (proxy) assert.ok(proxy.ports.has(clientPort as number), 'a request went past the proxy')
      }
      for (const pacer of pacers) assert.ok(!(proxy && proxy.url in pacer.stats().hosts), 'the proxy was paced')
    },
    async close() {
      a.finish()
      b.finish()
      await Promise.all(pacers.map((pacer) => pacer.close()))
      await Promise.all([a.close(), b.close(), proxy?.close()])
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

function watch(promise: Promise<DriverResponse>): Sent {
  let state: Sent['state'] = 'pending'
  const settled = promise.then(
    () => {
      state = 'done'
    },
    () => {
      state = 'failed'
    },
  )
  return {
    get state() {
      return state
    },
    response: () => promise,
    settled: () => settled,
    error: () =>
      promise.then(
        ({ status }) => {
          throw new Error(`The request should have failed, but was answered with ${status}`)
        },
        (error: unknown) => error,
      ),
  }
}

/** Resolves when `condition` holds, which it must within four seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 4000
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`Waited in vain for ${what}`)
    await realTime(1)
  }
}

/** Gives whatever is on its way wrongly the time to arrive. */
export async function still(): Promise<void> {
  await realTime(25)
}

export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
