import type { HeaderCarrier } from '@hostpace/core'
import type { AnyHandler, Controller, ModernHandler } from './dispatch.ts'
import { type Lane, PacedRequest } from './paced-request.ts'
import { StableController } from './stable-controller.ts'

/** A paced request as undici 7 and 8 tell of it. */
export class ModernRequest extends PacedRequest implements ModernHandler {
  readonly #handler: AnyHandler
  readonly #controller = new StableController(this)

  constructor(lane: Lane, handler: AnyHandler) {
    super(lane)
    this.#handler = handler
  }

  protected tellStart(context: object): void {
    this.#handler.onRequestStart?.(this.#controller, context)
  }

  protected tellError(error: unknown): void {
    this.#handler.onResponseError?.(this.#controller, error)
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#controller.follow(controller)
    this.started((reason) => controller.abort(reason), context)
  }

  onRequestUpgrade(_controller: Controller, status: number, headers: HeaderCarrier, socket: unknown): void {
    this.upgraded(status, headers)
    this.#handler.onRequestUpgrade?.(this.#controller, status, headers, socket)
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onResponseStart(_controller: Controller, status: number, headers: HeaderCarrier, statusText?: string): void {
    this.answered(status, headers)
    this.#handler.onResponseStart?.(this.#controller, status, headers, statusText)
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#handler.onResponseData?.(this.#controller, chunk)
  }

  onResponseEnd(_controller: Controller, trailers: unknown): void {
    this.ended()
    this.#handler.onResponseEnd?.(this.#controller, trailers)
  }

  onResponseError(_controller: Controller, error: unknown): void {
    this.fail(error)
  }

  onBodySent(chunk: unknown): unknown {
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): unknown {
    return this.#handler.onRequestSent?.()
  }
}
