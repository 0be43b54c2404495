import type { HeaderCarrier, RequestOptions } from '@hostpace/core'
import type { Grant, grantsKey } from './grant.ts'

/** What undici hands to an interceptor, as far as this package looks at it. */
export interface DispatchOptions {
  readonly origin?: string | URL | undefined
  readonly path: string
  readonly method?: string
  /** The name that a server has to prove to have, where it is not the host of the origin. */
  readonly servername?: unknown
  readonly body?: unknown
  readonly signal?: unknown
  readonly hostpace?: RequestOptions | undefined
  readonly [grantsKey]?: readonly Grant[]
}

export type Dispatch = (options: DispatchOptions, handler: AnyHandler) => boolean

/** What can be done to a request on its way; undici 7 and 8 hand one to the handler. */
export interface Controller {
  readonly aborted: boolean
  readonly paused: boolean
  readonly reason: unknown
  rawHeaders?: unknown
  rawTrailers?: unknown
  abort(reason?: unknown): void
  pause(): void
  resume(): void
}

/** Who hears of a request in undici 7 and 8. */
export interface ModernHandler {
  onRequestStart(controller: Controller, context: unknown): void
  onRequestUpgrade?(controller: Controller, status: number, headers: HeaderCarrier, socket: unknown): void
  onResponseStarted?(): void
  onResponseStart?(controller: Controller, status: number, headers: HeaderCarrier, statusText?: string): void
  onResponseData?(controller: Controller, chunk: Uint8Array): void
  onResponseEnd?(controller: Controller, trailers: unknown): void
  onResponseError?(controller: Controller, error: unknown): void
  onBodySent?(chunk: unknown): unknown
  onRequestSent?(): unknown
}

/** Who hears of a request in undici 6 and in the built-in fetch of Node before 24; undici 7 takes it as well. */
export interface LegacyHandler {
  onConnect?(abort: (reason?: unknown) => void, context?: unknown): void
  onUpgrade?(status: number, headers: HeaderCarrier, socket: unknown): void
  onResponseStarted?(): void
  onHeaders?(status: number, headers: HeaderCarrier, resume: () => void, statusText: string): boolean
  onData?(chunk: Uint8Array): boolean
  onComplete?(trailers: unknown): void
  onError?(error: unknown): void
  onBodySent?(chunk: unknown): unknown
  onRequestSent?(): unknown
}

export type AnyHandler = LegacyHandler & Partial<ModernHandler>
