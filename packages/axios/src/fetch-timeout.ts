import type { AxiosStatic, InternalAxiosRequestConfig } from 'axios'

/**
 * The `timeout` of a call by the fetch adapter, which can stand still while a redirect hop waits. That of
 * axios cannot, so it is switched off and the signal given to axios is aborted with axios's own error instead.
 */
export class FetchTimeout {
  readonly #controller: AbortController | undefined
  readonly #expire: () => void
  readonly #unfollow: () => void
  #timer: NodeJS.Timeout | undefined
  #leftMs: number
  #runningSinceMs = 0

  constructor(root: AxiosStatic, config: InternalAxiosRequestConfig) {
    const { timeout = 0 } = config
    this.#leftMs = Number(timeout)
    const signal = config.signal as AbortSignal | undefined
    const controller = this.#leftMs > 0 ? new AbortController() : undefined
    this.#controller = controller
    this.#expire = () =>
      controller?.abort(new root.AxiosError(`timeout of ${timeout}ms exceeded`, root.AxiosError.ETIMEDOUT))
    const follow = () => controller?.abort(signal?.reason)
    if (controller) signal?.addEventListener('abort', follow)
    this.#unfollow = () => signal?.removeEventListener('abort', follow)
    this.#run()
  }

  /** What the config must say while this time-out runs. */
  get config(): Partial<InternalAxiosRequestConfig> {
    return this.#controller ? { timeout: 0, signal: this.#controller.signal } : {}
  }

  /** Stops the timer; what is returned lets it run for the time that was left. */
  pause(): () => void {
    clearTimeout(this.#timer)
    this.#leftMs -= performance.now() - this.#runningSinceMs
    return () => this.#run()
  }

  /** The call is over. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#unfollow()
  }

  #run(): void {
    if (this.#controller === undefined) return
    this.#runningSinceMs = performance.now()
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#leftMs))
  }
}
