import type { Learned } from './learning/learned.ts'

/** Somebody who keeps something about hosts under their numbers. */
export interface HostKeeper {
  /** Whether what is kept of this host says nothing any more, so that it may be forgotten. */
  mayForget(host: number, nowMs: number): boolean
  /** The host is forgotten; its number will be given to another. */
  forget(host: number): void
  /** A permit or a slot of the host has come free. */
  freed?(host: number): void
  /** Something else has changed that applies to all who wait for the host. */
  changed?(host: number): void
  /** Another process has learned something of the host. */
  taught?(host: number, learned: Learned): void
  /** What is shared of the host cannot be reached, and others are told of it once. */
  failed?(host: number, error: unknown): void
}

/**
 * Gives each host a small number for as long as anybody remembers something of it, so that whoever
 * keeps something about hosts can keep it in plain arrays.
 */
export class HostTable {
  readonly #numbers = new Map<string, number>()
  readonly #keys: (string | undefined)[] = []
  readonly #freeNumbers: number[] = []
  readonly #keepers = new Set<HostKeeper>()

  /** How many hosts have a number. */
  get size(): number {
    return this.#numbers.size
  }

  /** The number of a host, if it has one. */
  find(key: string): number | undefined {
    return this.#numbers.get(key)
  }

  /** Gives a number to a host that has none. */
  add(key: string): number {
    const host = this.#freeNumbers.pop() ?? this.#keys.length
    const own = ownCopy(key)
    this.#keys[host] = own
    this.#numbers.set(own, host)
    return host
  }

  /** The key of a host with this number. */
  keyOf(host: number): string {
    return this.#keys[host] as string
  }

  /** The hosts that have a number. */
  entries(): IterableIterator<[key: string, host: number]> {
    return this.#numbers.entries()
  }

  join(keeper: HostKeeper): void {
    this.#keepers.add(keeper)
  }

  leave(keeper: HostKeeper): void {
    this.#keepers.delete(keeper)
  }

  /** Tells all who keep something of a host that a permit or a slot has come free. */
  freed(host: number): void {
    for (const keeper of this.#keepers) keeper.freed?.(host)
  }

  /** Tells all who keep something of a host of anything else that applies to all who wait for it. */
  changed(host: number): void {
    for (const keeper of this.#keepers) keeper.changed?.(host)
  }

  /** Tells all who keep something of a host what another process has learned of it. */
  taught(host: number, learned: Learned): void {
    for (const keeper of this.#keepers) keeper.taught?.(host, learned)
  }

  /** Tells all who keep something of a host that what is shared of it cannot be reached. */
  failed(host: number, error: unknown): void {
    for (const keeper of this.#keepers) keeper.failed?.(host, error)
  }

  /** Forgets the hosts of which no keeper has anything left to remember. */
  sweep(nowMs: number): void {
    const keepers = [...this.#keepers]
    for (const [key, host] of this.#numbers) {
      if (!keepers.every((keeper) => keeper.mayForget(host, nowMs))) continue
      for (const keeper of keepers) keeper.forget(host)
      this.#numbers.delete(key)
      this.#keys[host] = undefined
      this.#freeNumbers.push(host)
    }
  }
}

/** A text that was cut out of a URL keeps all of the URL in memory; its copy does not. */
function ownCopy(text: string): string {
  return JSON.parse(JSON.stringify(text))
}
