import { type AsyncContext, newAsyncContext } from './async-hooks.ts'
import { originOf } from './origin.ts'
import type { Pacer } from './pacer.ts'

/** A request that was let go further up, and the pacers that nobody below has answered for yet. */
interface Handover {
  readonly origin: string
  readonly pacers: Set<Pacer>
}

interface Registry {
  /** How often a pacer was installed where a handover may be taken. */
  readonly takers: WeakMap<Pacer, number>
  context: AsyncContext<Handover> | undefined
}

/** One for the whole process, whichever copy of this package asks. */
const registryKey = Symbol.for('hostpace.handover')

/**
 * For adapters of what clients send through: says that this pacer paces it once more, so that a client which is paced
 * as well hands its requests over, and both together charge once.
 */
export function takesHandovers(pacer: Pacer): void {
  const { takers } = registry()
  takers.set(pacer, (takers.get(pacer) ?? 0) + 1)
}

/**
 * For adapters of clients: sends a request that `pacers` have let go, in such a way that an adapter of what it is
 * sent through, for the same pacers, knows of it and does not wait again.
 *
 * Where nothing beneath is paced, or where the runtime has no `AsyncLocalStorage`, it just calls `send`.
 *
 * @param own how many of those that take handovers the caller itself is
 */
export function handOver<T>(pacers: readonly Pacer[], url: string | URL, send: () => T, own = 0): T {
  const { takers } = registry()
  const shared = pacers.filter((pacer) => (takers.get(pacer) ?? 0) > own)
  const context = shared.length > 0 ? asyncContext() : undefined
  return context === undefined ? send() : context.run({ origin: originOf(url), pacers: new Set(shared) }, send)
}

/**
 * For adapters of what clients send through: whether this request has waited further up. It is told once for each handover: a
 * retry beneath the client is a request of its own, and so is one that goes elsewhere.
 */
export function takeHandover(pacer: Pacer, url: string): boolean {
  const handover = registry().context?.getStore()
  if (handover === undefined || !handover.pacers.has(pacer) || originOf(url) !== handover.origin) return false
  return handover.pacers.delete(pacer)
}

function registry(): Registry {
  const holder = globalThis as { [registryKey]?: Registry }
  holder[registryKey] ??= { takers: new WeakMap(), context: undefined }
  return holder[registryKey]
}

/** Made when first needed: on older versions of Node every promise gets slower by it. */
function asyncContext(): AsyncContext<Handover> | undefined {
  const found = registry()
  found.context ??= newAsyncContext<Handover>()
  return found.context
}
