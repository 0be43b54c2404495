import type { Pacer } from '../pacer.ts'
import type { RequestOptions } from '../request-options.ts'
import type { Connection, Transport } from './transport.ts'

/** A request as the adapter suite describes it to every client. */
export interface DriverRequest extends RequestOptions {
  url: string
  method?: string
  headers?: Record<string, string>
  /** What to send: text, or a stream (a `Readable` of node:stream). */
  body?: string | NodeJS.ReadableStream
  signal?: AbortSignal
  /** The client's own time-out for the response, in milliseconds; the wait must not count. */
  timeoutMs?: number
  /** How often the client's own retry layer repeats after 429 and 503, with delays of about 5 ms where no `Retry-After` is given. @default 0 */
  retries?: number
  /** Whether redirects are followed. @default true */
  followRedirects?: boolean
}

/** What came back, once the body has been read whole. */
export interface DriverResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** A client with the adapter under test installed. */
export interface PacedClient {
  /** Sends a request and reads the whole body. A status of 400 and above may resolve or reject, as the client does it. */
  send(request: DriverRequest): Promise<DriverResponse>
  /** Sends a request and resolves once the headers are there, with the body still to be read. */
  open(request: DriverRequest): Promise<NodeJS.ReadableStream>
  /** Installs the adapter once more for the same pacer, in every way in which users do it by accident. */
  installAgain(): void
  /** Frees sockets. */
  close(): Promise<void>
}

/**
 * What a scenario needs of a client, beyond sending requests. `lazy-upload`: it leaves a stream alone until it
 * sends it, hears when it fails, and destroys it when it gives up. fetch reads ahead and does neither.
 */
export type AdapterNeed = 'retry' | 'redirect' | 'cache' | 'timeout' | 'upload' | 'lazy-upload' | 'cancel'

/** How the suite drives one client library. */
export interface AdapterDriver {
  /** e.g. `got 14.6.6` */
  readonly name: string
  /** What its client can do; a transport that is missing here is not tested. */
  readonly transports: readonly Transport[]
  /** Makes a fresh client that is paced by these pacers (usually one); with none, the client as it comes. */
  create(pacers: readonly Pacer[], connection: Connection): PacedClient | Promise<PacedClient>
  /** Whether this is the error with which the client says that `signal` aborted the request. */
  isAbort(error: unknown, signal: AbortSignal): boolean
  /** Whether this is one of the client's own errors, so of the class its users catch. */
  isClientError(error: unknown): boolean
  /** Finds the error of this library in one that the client rejected with. */
  causeOf(error: unknown): unknown
  /** What the client cannot do; the suite leaves these scenarios out and says so. */
  readonly lacks?: ReadonlySet<AdapterNeed>
  /** What it cannot do besides, over one transport. */
  readonly lacksOver?: Readonly<Partial<Record<Transport, ReadonlySet<AdapterNeed>>>>
}
