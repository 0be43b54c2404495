import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { pipeline } from 'node:stream'

/** A forward proxy on loopback that writes down what goes through it. */
export interface Proxy {
  readonly url: string
  /** The ports that its connections to targets come from, by which a target knows a request that went through it. */
  readonly ports: ReadonlySet<number>
  /** Stops the proxy and drops its connections. */
  close(): Promise<void>
}

/**
 * Starts a proxy on a free port of 127.0.0.1. It forwards requests in absolute form, and opens a tunnel for `CONNECT`.
 * Where nobody listens it answers 502; where a target breaks off, so does the proxy.
 *
 * Source: RFC 9112, section 3.2.2; RFC 9110, section 9.3.6.
 */
export async function startProxy(): Promise<Proxy> {
  const ports = new Set<number>()
  const sockets = new Set<Socket>()
  const watch = (socket: Socket) => {
    sockets.add(socket)
    socket.once('connect', () => ports.add(socket.localPort as number))
  }

  const server = createServer((request, response) => forward(request, response, watch))
  server.on('connection', (socket) => void sockets.add(socket))
  server.on('connect', (request, socket: Socket, head) => tunnel(request, socket, head, watch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ports,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function forward(request: IncomingMessage, response: ServerResponse, watch: (socket: Socket) => void): void {
  const { method, url = '' } = request
  const outgoing = send(url, { method, headers: withoutConnection(request.headers), agent: false })
  outgoing.once('socket', watch)
  outgoing.once('response', (answer) => {
    response.writeHead(answer.statusCode as number, withoutConnection(answer.headers))
    pipeline(answer, response, () => {})
  })
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED') response.writeHead(502).end()
    else response.destroy()
  })
  response.once('close', () => outgoing.destroy())
  request.pipe(outgoing)
}

function tunnel(request: IncomingMessage, socket: Socket, head: Buffer, watch: (socket: Socket) => void): void {
  const { hostname, port } = new URL(`http://${request.url}`)
  const target = connect(Number(port), hostname)
  const refuse = () => socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
  watch(target)
  target.once('error', refuse)
  target.once('connect', () => {
    target.off('error', refuse)
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    target.write(head)
    target.pipe(socket).pipe(target)
    target.once('close', () => socket.destroy())
  })
  target.on('error', () => {})
  socket.on('error', () => {})
  socket.once('close', () => target.destroy())
}

/** Those of a message that are not about one connection only. */
function withoutConnection(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { connection: _, 'keep-alive': __, 'proxy-connection': ___, ...others } = headers
  return others
}
