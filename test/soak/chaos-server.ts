import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Behaviour, behaviourOf, textFor } from './chaos.ts'
import { machineMs } from './machine-clock.ts'
import { Random } from './random.ts'
import type { Arrival, ServerOrder, ServerPlan } from './server-log.ts'

/*
 * The program of the process that is asked. It is sent a plan and answers with the addresses; asked for connections it
 * answers how many are open; told to stop it answers with its log. Nothing else runs here.
 */

const servers: Server[] = []
const log: Record<string, Arrival[]> = {}
const urls: Record<string, string> = {}
/** How often each request has arrived, by its number. */
const attempts = new Map<number, number>()
let plan: ServerPlan

// Where that is allowed, this process goes first.
try {
  setPriority(-10)
} catch {}

// Ctrl-C reaches every process of a terminal. The parent decides what it means.
process.on('SIGINT', () => {})
process.once('disconnect', () => process.exit())

process.on('message', async (order: ServerOrder) => {
  if (order === 'connections') {
    const counts = await Promise.all(servers.map(connectionsOf))
    process.send?.(counts.reduce((sum, count) => sum + count, 0))
  } else if (order === 'stop') {
    process.send?.(log)
    for (const server of servers) server.close().closeAllConnections()
  } else {
    plan = order
    for (const name of plan.names) urls[name] = await listen((request, response) => serve(name, request, response))
    urls.elsewhere = await listen((_, response) => response.end('ok'))
    process.send?.(urls)
  }
})

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer({ keepAliveTimeout: 120_000 }, handle)
  server.on('clientError', (_, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, resolve))
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function serve(name: string, request: IncomingMessage, response: ServerResponse): void {
  const atMs = machineMs()
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  const id = Number(query.get('id'))
  const arrival: Arrival = {
    id,
    cost: Number(query.get('cost')),
    atMs,
    endMs: Number.POSITIVE_INFINITY,
    isAnswered: false,
  }
  const arrivals = log[name] ?? []
  log[name] = arrivals
  arrivals.push(arrival)
  // A client that has gone is no news here, nor is what can no longer be written to it.
  response.on('error', () => {})
  response.once('close', () => {
    arrival.endMs = machineMs()
    arrival.isAnswered = response.writableFinished
  })
  const attempt = attempts.get(id) ?? 0
  attempts.set(id, attempt + 1)
  void behave(
    behaviourOf(plan.seed, id, attempt),
    { name, id, attempt, isBlind: query.has('blind') },
    request,
    response,
  )
}

interface Asked {
  readonly name: string
  readonly id: number
  readonly attempt: number
  readonly isBlind: boolean
}

async function behave(how: Behaviour, asked: Asked, { url, socket }: IncomingMessage, response: ServerResponse) {
  const { id } = asked
  if (how.kind === 'answer') {
    if (how.afterMs > 0) await sleep(how.afterMs)
    response.end(textFor(id, how.size))
  } else if (how.kind === 'drip') {
    const text = textFor(id, how.size)
    const step = Math.ceil(text.length / how.pieces)
    for (let at = 0; at < text.length && !response.destroyed; at += step) {
      response.write(text.slice(at, at + step))
      await sleep(how.everyMs)
    }
    response.end()
  } else if (how.kind === 'redirect') {
    // undici takes it for a loop if a URL comes again.
    const to = how.isElsewhere ? elsewhere(asked) : asked.name
    response.writeHead(how.status, { location: `${urls[to]}${url}&hop=${asked.attempt + 1}` }).end('moved')
  } else if (how.kind === 'refuse') {
    if (how.retryAfter !== undefined) response.setHeader('retry-after', how.retryAfter)
    response.writeHead(how.status).end('refused')
  } else if (how.kind === 'reset') {
    if (how.afterMs > 0) await sleep(how.afterMs)
    hangUp(socket, how.isHard)
  } else if (how.kind === 'cut') {
    const text = textFor(id, how.size)
    if (how.hasLength) response.setHeader('content-length', text.length)
    response.write(text.slice(0, text.length / 2))
    await sleep(5)
    hangUp(socket, how.isHard)
  }
}

/** Ends a connection, by a reset or as if all had been said. */
function hangUp(socket: IncomingMessage['socket'], isHard: boolean): void {
  if (isHard) socket.resetAndDestroy()
  else socket.destroy()
}

function elsewhere({ name, id, attempt, isBlind }: Asked): string {
  const others = (isBlind ? plan.blind : plan.names).filter((other) => other !== name)
  return new Random(plan.seed, id, attempt, 2).one(others)
}
