import { connect, createServer, type Socket } from 'node:net'
import { freePort } from './redis-server.ts'

/** A name that leads to another server after a failover: connections that are there already stay where they are. */
export interface Switch {
  readonly port: number
  leadTo(port: number): void
  close(): void
}

/** Leads to the server on `port` of 127.0.0.1, at first. */
export async function startSwitch(port: number): Promise<Switch> {
  let target = port
  const sockets = new Set<Socket>()
  const server = createServer((inner) => {
    const outer = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => other.destroy())
    }
  })
  const own = await freePort()
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve))
  return {
    port: own,
    leadTo(next) {
      target = next
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
