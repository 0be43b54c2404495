import http, { type ClientRequest, type RequestOptions } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import type { Hop } from './hop.ts'
import { HopTimeout } from './hop-timeout.ts'
import { override } from './override.ts'
import { mayTunnel } from './proxy.ts'
import type { Trip } from './trip.ts'
import { isWatched, type OnRequest, watchAgent } from './watched-agent.ts'

type BeforeRedirect = NonNullable<InternalAxiosRequestConfig['beforeRedirect']>
type Agents = Record<string, unknown>

/**
 * Sends a request by the adapter that uses node:http, where redirects are followed below axios.
 *
 * A stand-in for the agent sees each request of the call. The first has waited already and goes through;
 * each later one is a redirect and is held back until its own host lets it leave. `beforeRedirect` puts
 * the stand-in in place again where axios changes agents between hops, as it does for proxies.
 */
export async function sendByHttp(
  trip: Trip,
  send: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  url: URL,
): Promise<AxiosResponse> {
  const timeout = new HopTimeout(Number.parseInt(String(config.timeout), 10))
  const userBeforeRedirect = config.beforeRedirect

  const onRequest: OnRequest = (request, options, proceed) => {
    if (trip.hop.begun) {
      void gate(trip, timeout, request, options, proceed)
    } else {
      follow(trip.hop, timeout, request)
      proceed()
    }
  }
  const beforeRedirect: BeforeRedirect = (options, response, request) => {
    trip.hop.begun = true
    // Older versions of axios do not tell of the response; it is known already unless nothing showed the request.
    if (response) trip.hop.answered(response.statusCode, response.headers)
    userBeforeRedirect?.(options, response, request)
    if (options.agents) watchScheme(options.agents, options.protocol, onRequest)
  }

  const agents: Agents = { http: config.httpAgent, https: config.httpsAgent }
  const { protocol } = url
  if (showsFirstRequest(config, protocol)) watchScheme(agents, protocol, onRequest)
  const restore = override(config, { beforeRedirect, httpAgent: agents.http, httpsAgent: agents.https })

  try {
    const sending = send(config)
    if (!trip.hop.begun) {
      // Something else than the agent carries the request, such as a tunnel, HTTP/2 or a mock.
      trip.hop.sent()
      timeout.started()
    }
    return await sending
  } finally {
    restore()
  }
}

/**
 * Whether the agent of the first request may be stood in for. axios keeps its tunnels through proxies by
 * agent, and it refuses agents of an unknown make where it has to switch off Node's own use of proxies.
 */
function showsFirstRequest(config: InternalAxiosRequestConfig, protocol: string): boolean {
  if (Number(config.httpVersion ?? 1) === 2) return false
  if (protocol === 'https:')
    return !mayTunnel(config) && !usesEnvironment(config, config.httpsAgent ?? https.globalAgent)
  return !usesEnvironment(config, config.httpAgent ?? http.globalAgent)
}

function usesEnvironment(config: InternalAxiosRequestConfig, agent: { options?: object } | undefined): boolean {
  return config.proxy === false && Reflect.get(agent?.options ?? {}, 'proxyEnv') !== undefined
}

function watchScheme(agents: Agents, protocol: string, onRequest: OnRequest): void {
  const scheme = protocol === 'https:' ? 'https' : 'http'
  if (isWatched(agents[scheme])) return
  const { Agent, globalAgent } = scheme === 'https' ? https : http
  const agent = agents[scheme] === false ? new Agent() : (agents[scheme] ?? globalAgent)
  agents[scheme] = watchAgent(agent as http.Agent, onRequest)
}

/** Holds a redirect back until its host lets it leave; its time-out stands still as long. */
async function gate(
  trip: Trip,
  timeout: HopTimeout,
  request: ClientRequest,
  options: RequestOptions,
  proceed: () => void,
): Promise<void> {
  // Whose time-out runs is told to the request only after it has been made.
  await undefined
  if (request.destroyed) return
  const resume = timeout.pause(request)
  try {
    await trip.redirect(urlOf(options))
    if (request.destroyed) {
      trip.hop.over()
      return
    }
    resume()
    follow(trip.hop, timeout, request)
    proceed()
  } catch (error) {
    // A request without a socket keeps silent when it is destroyed.
    if (!request.destroyed) request.destroy(error as Error).emit('error', error)
  }
}

/** The URL of a redirect: `host` and `path` may be those of a proxy, so `href` goes first. */
function urlOf(options: RequestOptions & { href?: string }): string {
  const { href, protocol = 'http:', hostname, host, port } = options
  return href ?? `${protocol}//${hostname ?? host}${port ? `:${port}` : ''}`
}

/** Reports what becomes of a request to its hop. */
function follow(hop: Hop, timeout: HopTimeout, request: ClientRequest): void {
  hop.begun = true
  request.once('socket', (socket) => {
    timeout.started()
    whenConnected(socket, () => hop.written())
  })
  request.prependOnceListener('response', ({ statusCode, rawHeaders }) => hop.answered(statusCode, rawHeaders))
}

/** Calls `listener` when what is written goes out: at once on a connection that stands. */
function whenConnected(socket: Socket, listener: () => void): void {
  if ((socket as { secureConnecting?: boolean }).secureConnecting) socket.once('secureConnect', listener)
  else if (socket.connecting) socket.once('connect', listener)
  else listener()
}
