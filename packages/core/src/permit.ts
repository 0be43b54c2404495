import type { LayerName } from './layers/layer.ts'

/** What carries response headers: a `Headers`, a plain object in any case, or raw name-value pairs. */
export type HeaderCarrier =
  | { get(name: string): string | null; [Symbol.iterator](): Iterator<[string, string]> }
  | Readonly<Record<string, string | readonly string[] | number | undefined>>
  | readonly (readonly [string, string])[]
  | readonly string[]

/** How a request ended, as far as the caller knows. */
export interface Outcome {
  /** Status code of the response, a whole number from 100 to 999; 0 where it is hidden. */
  status?: number | undefined
  /** Headers of the response. */
  headers?: HeaderCarrier | undefined
  /** Milliseconds from the departure to the response's first byte. */
  latencyMs?: number | undefined
  /**
   * Whether the answer says that the host had too much, where the caller knows better, say from its body. @default by the
   * status and the headers
   */
  limited?: boolean | undefined
  /** What the request failed with. */
  error?: unknown
}

/**
 * The leave to send one request now. Send it, then call `done()`.
 */
export interface Permit {
  /** The key of the host, usually its origin. */
  readonly key: string
  /** Milliseconds that the request waited, queue included. */
  readonly waitedMs: number
  /** Which layer asked for the wait; `'none'` if there was none. */
  readonly layer: LayerName

  /**
   * Says that the request is on the wire now. The declared interval is measured from here, so that
   * the time it took to connect does not shorten the gap that the host sees.
   *
   * Safe to call twice; the second call does nothing.
   */
  sent(): void

  /**
   * Feeds what the response says into the pacer, before the body has ended. The permit stays taken.
   */
  observe(outcome: Outcome): void

  /**
   * Says that the request is over: its body has ended, failed or been discarded. Frees the
   * concurrency permit and observes `outcome` if there is one.
   *
   * A request that was announced with `reportsSent` and never was sent gives its slot back if
   * there is no outcome to tell of.
   *
   * Safe to call twice; the second call does nothing.
   */
  done(outcome?: Outcome): void
}
