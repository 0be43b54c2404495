import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { pace } from '@hostpace/got'
import got, { type ExtendOptions, type Got } from 'got'
import { onTestFinished } from 'vitest'

export interface PacedGot {
  clock: ManualClock
  pacer: Pacer
  client: Got
  /** Moves the pacer's clock on, and lets sockets answer before and after. */
  run(ms: number): Promise<void>
  /** How many requests for a host were let go. */
  departures(origin: string): number
}

/** A client whose pacer's clock moves only by `run`. */
export function pacedGot(options: PacerOptions, more: ExtendOptions = {}): PacedGot {
  const clock = new ManualClock()
  const pacer = createPacer({ ...options, clock })
  onTestFinished(() => pacer.close())
  return {
    clock,
    pacer,
    client: got.extend(pace(pacer), more),
    async run(ms) {
      await arrivals()
      await clock.advanceAsync(ms)
      await arrivals()
    },
    departures: (origin) => pacer.stats().hosts[origin]?.departures ?? 0,
  }
}

/** Lets what is on its way arrive; nothing depends on how long that takes. */
export async function arrivals(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 30))
}

export interface Site {
  origin: string
  /** The paths that were asked for, in order. */
  paths: string[]
}

/** A server on loopback that remembers who came, until the test ends. */
export async function serve(listener: RequestListener = (_request, response) => response.end('ok')): Promise<Site> {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url as string)
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}
