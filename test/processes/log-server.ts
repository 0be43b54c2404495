import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { machineMs } from '../soak/machine-clock.ts'
import { LagMeter } from './lag-meter.ts'

/** A server that notes when requests come, and nothing else. */
export interface LogServer {
  readonly origin: string
  /** In order, on the clock of the machine. */
  readonly arrivalsMs: readonly number[]
  /** Ends it. @returns how late it may have noted what came */
  close(): Promise<number>
}

export async function startLogServer(): Promise<LogServer> {
  const arrivalsMs: number[] = []
  const server = createServer((_, response) => {
    arrivalsMs.push(machineMs())
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const lag = new LagMeter()
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivalsMs,
    async close() {
      server.close().closeAllConnections()
      return lag.end()
    },
  }
}

/** How many of the times lie within `windowMs` at the most, wherever it begins. */
export function mostWithin(windowMs: number, times: readonly number[]): number {
  let most = 0
  let first = 0
  times.forEach((time, index) => {
    while (time - (times[first] as number) >= windowMs) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}
