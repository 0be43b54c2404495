import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A host on this machine that answers everything and remembers when it was asked. */
export interface LocalServer {
  readonly url: string
  /** Prints the milliseconds between the requests, and stops. The exit code is 1 if any are fewer than `atLeastMs`. */
  finish(atLeastMs: number): Promise<void>
}

/** How much earlier than it left a request may seem to come, because the one before it was held up: the first one waits for a program that starts. */
const graceMs = 100

export async function localServer(): Promise<LocalServer> {
  const arrivals: number[] = []
  const server = createServer((_, response) => {
    arrivals.push(performance.now())
    response.end('Hello\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async finish(atLeastMs) {
      const gaps = arrivals.slice(1).map((arrival, index) => arrival - (arrivals[index] as number))
      console.log(`${arrivals.length} requests, gaps in ms: ${gaps.map((gap) => gap.toFixed(1)).join(', ')}`)
      if (gaps.some((gap) => gap < atLeastMs - graceMs)) process.exitCode = 1
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
