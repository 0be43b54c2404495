import type { LayerName } from './layers/layer.ts'

/** The codes that a `HostpaceError` carries; a closed set. `PolicyError` has `ERR_HOSTPACE_POLICY`. */
export type HostpaceErrorCode =
  | 'ERR_HOSTPACE_QUEUE_FULL'
  | 'ERR_HOSTPACE_WAIT_TOO_LONG'
  | 'ERR_HOSTPACE_CLOSED'
  | 'ERR_HOSTPACE_LIMITED'
  | 'ERR_HOSTPACE_STORE'

/**
 * The base of every error that this library rejects with. Tell errors apart by `code`, which also
 * holds where two copies of the package are installed.
 */
export abstract class HostpaceError extends Error {
  abstract readonly code: HostpaceErrorCode

  /** Written out by each class, since bundlers for browsers shorten the names of classes. */
  abstract override get name(): string
}

/** More requests wait for a host than `maxQueue` allows. The request was not queued. */
export class QueueFullError extends HostpaceError {
  readonly code = 'ERR_HOSTPACE_QUEUE_FULL'
  readonly key: string | undefined
  readonly maxQueue: number

  constructor(maxQueue: number, key?: string) {
    super(`${key ?? 'The queue'} already has ${maxQueue} waiting requests`)
    this.key = key
    this.maxQueue = maxQueue
  }

  override get name(): string {
    return 'QueueFullError'
  }
}

/** The request would have waited longer than `maxWaitMs`. It was not sent and holds no slot. */
export class WaitTooLongError extends HostpaceError {
  readonly code = 'ERR_HOSTPACE_WAIT_TOO_LONG'
  readonly key: string
  /** Milliseconds that it would have to wait from now on. `Infinity` where nobody can tell: a permit is missing. */
  readonly waitMs: number
  /** Milliseconds that the caller was ready to wait. */
  readonly maxWaitMs: number
  /** The layer that asks for the wait. */
  readonly layer: LayerName

  constructor(key: string, waitMs: number, maxWaitMs: number, layer: LayerName) {
    super(`${key} asks for a wait of ${waitMs} ms (${layer}), which is over the maxWaitMs of ${maxWaitMs}`)
    this.key = key
    this.waitMs = waitMs
    this.maxWaitMs = maxWaitMs
    this.layer = layer
  }

  override get name(): string {
    return 'WaitTooLongError'
  }
}

/** The pacer was closed before the request could leave. */
export class PacerClosedError extends HostpaceError {
  readonly code = 'ERR_HOSTPACE_CLOSED'

  constructor() {
    super('The pacer is closed')
  }

  override get name(): string {
    return 'PacerClosedError'
  }
}

/** The request would have had to wait and its policy says `onLimit: 'reject'`. */
export class RateLimitedError extends HostpaceError {
  readonly code = 'ERR_HOSTPACE_LIMITED'
  readonly key: string
  /** Milliseconds after which it might have left. `Infinity` where nobody can tell: a permit is missing. */
  readonly waitMs: number
  /** The layer that refuses. */
  readonly layer: LayerName

  constructor(key: string, waitMs: number, layer: LayerName) {
    super(`${key} permits the next request in ${waitMs} ms (${layer})`)
    this.key = key
    this.waitMs = waitMs
    this.layer = layer
  }

  override get name(): string {
    return 'RateLimitedError'
  }
}

/** The store that holds the credit failed; what went wrong is the `cause`. */
export class StoreError extends HostpaceError {
  readonly code = 'ERR_HOSTPACE_STORE'

  override get name(): string {
    return 'StoreError'
  }
}

/**
 * A policy or an option makes no sense. It is thrown where the value comes in and nothing is repaired.
 *
 * It is a `RangeError`, as such mistakes are elsewhere in the language, and so the one error of this
 * library that is not a `HostpaceError`: a mistake in a program is not something to handle at run time.
 */
export class PolicyError extends RangeError {
  readonly code = 'ERR_HOSTPACE_POLICY'
  /** Which field, from the outside in, e.g. `hosts["https://a.example"].quotas[0].limit`. */
  readonly path: string

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`${path} ${problem}`, options)
    this.name = 'PolicyError'
    this.path = path
  }
}
