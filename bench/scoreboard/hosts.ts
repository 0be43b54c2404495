import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Host, Visit } from './situation.ts'

/** The hosts of a situation, which note who came. */
export interface StartedHosts {
  readonly origins: readonly string[]
  readonly visits: readonly Visit[]
  close(): void
}

export async function startHosts(hosts: readonly Host[]): Promise<StartedHosts> {
  const visits: Visit[] = []
  const origins: string[] = []
  const servers: Server[] = []
  for (const [host, { answer }] of hosts.entries()) {
    const server = createServer((request, response) => {
      const [atMs, path] = [performance.now(), request.url ?? '/']
      const { status = 200, headers = {} } = answer?.({ path, atMs, origins }) ?? {}
      visits.push({ host, path, atMs, status })
      response.writeHead(status, headers).end('ok')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    servers.push(server)
    origins.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }
  return {
    origins,
    visits,
    close() {
      for (const server of servers) server.close().closeAllConnections()
    },
  }
}
