import type { HeaderCarrier } from '@hostpace/core'
import type { AnyHandler, LegacyHandler } from './dispatch.ts'
import { type Lane, PacedRequest } from './paced-request.ts'

/** A paced request as undici 6 and the built-in fetch of older Node tell of it. */
export class LegacyRequest extends PacedRequest implements LegacyHandler {
  readonly #handler: AnyHandler

  constructor(lane: Lane, handler: AnyHandler) {
    super(lane)
    this.#handler = handler
  }

  protected tellStart(context: object): void {
    this.#handler.onConnect?.((reason) => this.abort(reason), context)
  }

  protected tellError(error: unknown): void {
    this.#handler.onError?.(error)
  }

  onConnect(abort: (reason?: unknown) => void, context?: unknown): void {
    this.started(abort, context)
  }

  onUpgrade(status: number, headers: HeaderCarrier, socket: unknown): void {
    this.upgraded(status, headers)
    this.#handler.onUpgrade?.(status, headers, socket)
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onHeaders(status: number, headers: HeaderCarrier, resume: () => void, statusText: string): boolean {
    this.answered(status, headers)
    return this.#handler.onHeaders?.(status, headers, resume, statusText) ?? true
  }

  onData(chunk: Uint8Array): boolean {
    return this.#handler.onData?.(chunk) ?? true
  }

  onComplete(trailers: unknown): void {
    this.ended()
    this.#handler.onComplete?.(trailers)
  }

  onError(error: unknown): void {
    this.fail(error)
  }

  onBodySent(chunk: unknown): unknown {
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): unknown {
    return this.#handler.onRequestSent?.()
  }
}
