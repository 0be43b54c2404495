import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { join, normalize } from 'node:path'
import { formatLogLine } from '../access-log.ts'
import { arrivedHeader, type Decision, ruleKeeper } from './rules.ts'
import { wallMs } from './stalls.ts'
import type { RunningTargets, Target } from './target.ts'

/** Serves targets from this process, each on its own port, or on the port behind the nginx that writes the log. */
export async function startNodeServers(targets: readonly Target[]): Promise<RunningTargets> {
  const logs = targets.map(({ log, portBehind }) => (portBehind === undefined ? createWriteStream(log) : undefined))
  const servers = await Promise.all(targets.map((target, index) => listen(target, logs[index])))
  return { stop: () => stop(servers, logs) }
}

function listen(target: Target, log: WriteStream | undefined): Promise<Server> {
  const decide = ruleKeeper(target.rule)
  const server = createServer((request, response) => {
    const arrivedMs = Number(request.headers[arrivedHeader] ?? wallMs() / 1000) * 1000
    const decision = decide(arrivedMs)
    response.once('finish', () => log?.write(formatLogLine(logged(arrivedMs, request, response))))
    void answer(target, decision, request, response)
  })
  server.keepAliveTimeout = 60_000
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(target.portBehind ?? target.port, '127.0.0.1', () => resolve(server))
  })
}

async function answer(
  { root, redirectTo }: Target,
  decision: Decision,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url === '/' ? '/index.html' : (request.url ?? '')
  if (typeof decision === 'object') {
    response.setHeader('retry-after', decision.retryAfterMs / 1000)
    response.writeHead(429).end('Too many requests\n')
  } else if (decision === 'redirect' && path !== '/index.html') {
    response.writeHead(301, { location: redirectTo + path }).end()
  } else {
    const page = await readFile(join(root, normalize(path))).catch(() => undefined)
    if (page === undefined) response.writeHead(404).end('Not found\n')
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  }
}

function logged(arrivedMs: number, { url = '', headers }: IncomingMessage, response: ServerResponse) {
  const seconds = response.getHeader('retry-after')
  return {
    arrivedMs,
    answeredMs: wallMs(),
    status: response.statusCode,
    path: url,
    client: headers['user-agent'] ?? '',
    ...(seconds === undefined ? {} : { retryAfterMs: Number(seconds) * 1000 }),
  }
}

async function stop(servers: readonly Server[], logs: readonly (WriteStream | undefined)[]): Promise<void> {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await Promise.all(logs.map((log) => log && once(log.end(), 'close')))
}
