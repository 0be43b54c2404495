import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { testCertificate as certificate, ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/got'
import got, { type ExtendOptions, type Got } from 'got'
import { expect, onTestFinished, vi } from 'vitest'

export interface PacedGot {
  clock: ManualClock
  pacer: Pacer
  client: Got
  /** The statuses and errors that the pacer was told of. */
  outcomes: unknown[]
  /** Moves the pacer's clock on, and lets sockets answer before and after. */
  run(ms: number): Promise<void>
  /** Resolves as soon as so many requests wait. */
  waiting(count: number): Promise<void>
  /** Resolves as soon as so many requests are in flight. */
  inFlight(count: number): Promise<void>
  /** How many requests for a host were let go. */
  departures(origin: string): number
}

/** A client whose pacer's clock moves only by `run`. */
export function pacedGot(options: PacerOptions, more: ExtendOptions = {}): PacedGot {
  const clock = new ManualClock()
  const pacer = createPacer({ ...options, clock })
  onTestFinished(() => pacer.close())
  const outcomes: unknown[] = []
  pacer.on('observe', ({ status, error }) => void outcomes.push(status ?? error))
  const soon = (name: 'queued' | 'inFlight', count: number) =>
    vi.waitFor(() => expect(pacer.stats().total[name], name).toBe(count), { interval: 1, timeout: 4000 })
  return {
    clock,
    pacer,
    client: got.extend(pace(pacer), more),
    outcomes,
    async run(ms) {
      await arrivals()
      await clock.advanceAsync(ms)
      await arrivals()
    },
    waiting: (count) => soon('queued', count),
    inFlight: (count) => soon('inFlight', count),
    departures: (origin) => pacer.stats().hosts[origin]?.departures ?? 0,
  }
}

/** Lets what is on its way arrive: many short turns, because on a busy machine it is turns that count and not time. */
export async function arrivals(): Promise<void> {
  for (let turn = 0; turn < 15; turn++) await new Promise((resolve) => setTimeout(resolve, 2))
}

/** Resolves as soon as a server has seen so many requests. */
export async function hits(site: Site, count: number): Promise<void> {
  await vi.waitFor(() => expect(site.paths).toHaveLength(count), { interval: 1, timeout: 4000 })
}

/** A promise that is looked at later and must not count as unhandled meanwhile. */
export function later<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: Error) => error)
}

export interface Site {
  origin: string
  /** The paths that were asked for, in order. */
  paths: string[]
}

/** A server on loopback that remembers who came, until the test ends. */
export async function serve(listener: RequestListener = (_request, response) => response.end('ok')): Promise<Site> {
  return open('http', (remember) => createServer(remember(listener)))
}

/** The same over TLS; got must be told `trusted`. */
export async function serveTls(listener: RequestListener = (_request, response) => response.end('ok')): Promise<Site> {
  return open('https', (remember) => createTlsServer(certificate, remember(listener)))
}

/** Trusts the server of `serveTls`. */
export const trusted = { https: { certificateAuthority: certificate.cert } } satisfies ExtendOptions

async function open(
  scheme: string,
  create: (remember: (listener: RequestListener) => RequestListener) => Server,
): Promise<Site> {
  const paths: string[] = []
  const server = create((listener) => (request, response) => {
    paths.push(request.url as string)
    listener(request, response)
  })
  const port = await listen(server)
  onTestFinished(() => server.closeAllConnections())
  return { origin: `${scheme}://127.0.0.1:${port}`, paths }
}

/** Opens a server on a free port of loopback until the test ends. */
export async function listen(server: NetServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
