import { type AsyncScope, runIn } from './async-hooks.ts'
import { aFunction, oneOf } from './checks.ts'
import type { LayerName } from './layers/layer.ts'
import type { Outcome } from './permit.ts'

/** What a pacer tells of, by name. Each event names the host by its key. */
export interface PacerEvents {
  /** A request may leave. */
  depart: { readonly key: string; readonly waitedMs: number; readonly layer: LayerName; readonly cost: number }
  /** A request waits; `waitMs` is known for the head of the queue, the others are told of when they get there. */
  wait: { readonly key: string; readonly waitMs: number; readonly layer: LayerName; readonly queued: number }
  /** A request was refused or taken back; `error` is what it rejects with. */
  reject: { readonly key: string; readonly waitedMs: number; readonly error: unknown }
  /** An answer came in. `limited` is true for one that says the host had too much. */
  observe: Omit<Outcome, 'limited'> & { readonly key: string; readonly limited: boolean }
  /** A host is held for `waitMs` from now on; 0 when it is let go. */
  pause: { readonly key: string; readonly waitMs: number; readonly reason: string; readonly layer: 'pause' }
  /** What was learned of a host has changed. */
  adapt: { readonly key: string; readonly waitMs: number; readonly layer: LayerName; readonly reason: string }
  /** The store of the credit failed, once per episode. */
  'store-error': { readonly key: string; readonly error: unknown }
}

export type PacerEventName = keyof PacerEvents

const eventNames: readonly PacerEventName[] = ['depart', 'wait', 'reject', 'observe', 'pause', 'adapt', 'store-error']

export type PacerListener<Name extends PacerEventName> = (event: PacerEvents[Name]) => void

/** Listeners by event. Where nobody listens, `has` is false and no event need be made. */
export class EventHub {
  readonly #listeners = new Map<PacerEventName, Set<(event: never) => void>>()

  has(name: PacerEventName): boolean {
    return this.#listeners.size > 0 && this.#listeners.has(name)
  }

  on<Name extends PacerEventName>(name: Name, listener: PacerListener<Name>): () => void {
    oneOf(name, eventNames, 'name')
    aFunction(listener, 'listener')
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) this.#listeners.delete(name)
    }
  }

  /** Tells all who listen, in the async context of the request that it is about if that was kept. */
  emit<Name extends PacerEventName>(name: Name, event: PacerEvents[Name], scope?: AsyncScope): void {
    runIn(scope, () => this.#tell(name, event))
  }

  #tell<Name extends PacerEventName>(name: Name, event: PacerEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        ;(listener as PacerListener<Name>)(event)
      } catch (error) {
        // A listener's mistake must not cost a request its slot; it surfaces as an uncaught exception of its own.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }
}
