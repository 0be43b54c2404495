import { Readable } from 'node:stream'
import type { Pacer } from '@hostpace/core'
import {
  type AdapterDriver,
  type Connection,
  type DriverRequest,
  type DriverResponse,
  type PacedClient,
  type Transport,
  testCertificate,
} from '@hostpace/core/testing'
import { pace } from '@hostpace/undici'
import { Agent, type Dispatcher, errors, interceptors, ProxyAgent, request } from 'undici'

const transports: readonly Transport[] = ['HTTP/1.1', 'TLS', 'HTTP/2', 'proxy', 'tunnel']

/** How the adapter suite drives `request` of undici. */
export const requestDriver: AdapterDriver = {
  name: 'undici request',
  transports,
  create: (pacers, connection) => createClient(new PacedAgent(pacers, composeByAgent, connection)),
  isAbort: (error, signal) => signal.aborted && error === signal.reason,
  // Ours come through as they are: undici wraps no error of a dispatcher either.
  isClientError: (error) => error instanceof errors.UndiciError || isNetworkError(error) || isOurs(error),
  causeOf: (error) => error,
  lacks: new Set(['cache', 'cancel']),
  // undici 7 does not hear there that its retry holds an answer back, and breaks it off with a TypeError.
  lacksOver: { proxy: new Set(['retry']) },
}

type Compose = (agent: Dispatcher, interceptors: Dispatcher.DispatcherComposeInterceptor[]) => Dispatcher

/** As users do it; undici 7 then speaks to handlers in its own way, whatever they are. */
const composeByAgent: Compose = (agent, interceptors) => agent.compose(interceptors)

/** Handlers come as they are: those of undici 6 and of the fetch in Node 20 and 22 are of the older kind. */
export const composeByHand: Compose = (agent, interceptors) => {
  let dispatch: Dispatcher.Dispatch = agent.dispatch.bind(agent)
  for (const interceptor of interceptors) dispatch = interceptor(dispatch)
  return { dispatch } as Dispatcher
}

/** How the adapter suite drives `fetch`: that of undici, or the one that Node has built in. */
export function fetchDriver(
  name: string,
  fetch: typeof globalThis.fetch,
  compose: Compose = composeByAgent,
): AdapterDriver {
  return {
    name,
    transports,
    create: (pacers, connection) => createFetchClient(fetch, new PacedAgent(pacers, compose, connection)),
    isAbort: (error, signal) => signal.aborted && error === signal.reason,
    isClientError: (error) => error instanceof TypeError,
    causeOf: (error) => (error as Error).cause,
    lacks: new Set(['cache', 'cancel', 'retry', 'timeout', 'lazy-upload']),
  }
}

class PacedAgent {
  readonly #agent: Dispatcher
  readonly #pacers: readonly Pacer[]
  readonly #compose: Compose
  #times = 1

  constructor(pacers: readonly Pacer[], compose: Compose, connection: Connection) {
    this.#agent = agentFor(connection)
    this.#pacers = pacers
    this.#compose = compose
  }

  installAgain(): void {
    this.#times++
  }

  /** The agent with what a request needs composed over it. */
  with(...interceptors: Dispatcher.DispatcherComposeInterceptor[]): Dispatcher {
    const paces = Array.from({ length: this.#times }, () => this.#pacers.map((pacer) => pace(pacer))).flat()
    return this.#compose(this.#agent, [...paces, ...interceptors])
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

function agentFor({ transport, proxyUrl }: Connection): Dispatcher {
  const tls = { ca: testCertificate.cert }
  if (proxyUrl === undefined) return new Agent({ connect: tls, allowH2: transport === 'HTTP/2' })
  return new ProxyAgent({ uri: proxyUrl, requestTls: tls, proxyTunnel: transport === 'tunnel' })
}

function createClient(agent: PacedAgent): PacedClient {
  async function open(asked: DriverRequest): Promise<Dispatcher.ResponseData> {
    const { url, method, headers, body, signal, timeoutMs, retries = 0, followRedirects = true, ...hostpace } = asked
    const dispatcher = agent.with(
      ...(followRedirects ? [interceptors.redirect({ maxRedirections: 10 })] : []),
      ...(retries > 0 ? [interceptors.retry({ maxRetries: retries, minTimeout: 5, throwOnError: false })] : []),
    )
    return request(url, {
      dispatcher,
      hostpace,
      ...(method && { method: method as Dispatcher.HttpMethod }),
      ...(headers && { headers }),
      ...(body !== undefined && { body: body as string | Readable }),
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { headersTimeout: timeoutMs }),
    })
  }

  return {
    async send(asked) {
      const { statusCode, headers, body } = await open(asked)
      return { status: statusCode, headers, body: await body.text() }
    },
    open: async (asked) => (await open(asked)).body,
    installAgain: () => agent.installAgain(),
    close: () => agent.close(),
  }
}

function createFetchClient(fetch: typeof globalThis.fetch, agent: PacedAgent): PacedClient {
  async function open(asked: DriverRequest): Promise<Response> {
    const { url, method, headers, body, signal, timeoutMs: _, retries: __, followRedirects, ...hostpace } = asked
    const paced = agent.with(withOptions(hostpace))
    return fetch(url, {
      dispatcher: paced,
      redirect: followRedirects === false ? 'manual' : 'follow',
      ...(method && { method }),
      ...(headers && { headers }),
      ...(body instanceof Readable ? { body: Readable.toWeb(body), duplex: 'half' } : { body }),
      ...(signal && { signal }),
    } as unknown as RequestInit)
  }

  return {
    async send(asked): Promise<DriverResponse> {
      const response = await open(asked)
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
    },
    async open(asked) {
      const { body } = await open(asked)
      return Readable.fromWeb(body as never)
    },
    installAgain: () => agent.installAgain(),
    close: () => agent.close(),
  }
}

/** fetch has no way to hand options to a dispatcher, so an interceptor further out adds them. */
function withOptions(hostpace: Dispatcher.DispatchOptions['hostpace']): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch({ ...options, ...(hostpace && { hostpace }) }, handler)
}

/** Those of node:net and node:http2 come through as they are, too. */
function isNetworkError(error: unknown): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException
  return typeof syscall === 'string' || code?.startsWith('ERR_HTTP2_') === true
}

function isOurs(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('ERR_HOSTPACE_')
}
