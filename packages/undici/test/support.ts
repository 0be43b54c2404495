import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
import { Agent } from 'undici'
import { onTestFinished } from 'vitest'

export interface Server {
  readonly origin: string
  /** The paths that were asked for, in order. */
  readonly paths: string[]
}

/** Starts a server for one test. It answers `ok`, or as `handler` does; it upgrades whoever asks, and tunnels for `CONNECT`. */
export async function serve(
  handler: (request: IncomingMessage, response: ServerResponse, nth: number) => void = (_request, response) =>
    void response.end('ok'),
): Promise<Server> {
  const paths: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => handler(request, response, paths.push(request.url ?? '')))
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('upgrade', (request, socket) => {
    paths.push(request.url ?? '')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: test\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

export interface Setting {
  clock: ManualClock
  pacer: Pacer
  agent: Agent
  /** The keys of the departures, in order. */
  departures: string[]
}

/** A pacer of one request per 1000 ms and host, on a clock that the test moves, and an agent to compose it over. */
export function setUp(options: PacerOptions = {}): Setting {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, adapt: false, clock, ...options })
  const agent = new Agent()
  const departures: string[] = []
  pacer.on('depart', ({ key }) => void departures.push(key))
  onTestFinished(async () => {
    await pacer.close()
    await agent.destroy()
  })
  return { clock, pacer, agent, departures }
}

/** Resolves when `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await realTime(1)
}

/** Resolves when so many requests wait. */
export function waiting(pacer: Pacer, count: number): Promise<void> {
  return until(() => pacer.stats().total.queued === count)
}

/** Gives whatever is on its way wrongly the time to arrive. */
export const still = (): Promise<void> => realTime(25)

function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
