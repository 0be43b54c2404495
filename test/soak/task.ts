import type { RequestOptions } from '@hostpace/core'
import type { Client } from './clients/client.ts'
import { Random } from './random.ts'

/** When a request is given up. */
export type Abort =
  | { readonly at: 'start' }
  /** So long after it was asked for; mostly it waits then. */
  | { readonly at: 'time'; readonly afterMs: number }
  /** So long after its first hop has gone to the wire. */
  | { readonly at: 'wire'; readonly afterMs: number }
  /** With the first piece of its body, by the signal or by hanging up where the client has a way to. */
  | { readonly at: 'body'; readonly hangsUp: boolean }

/** What is to be asked with one number. It depends on the seed and the number alone. */
export interface Task {
  readonly id: number
  readonly client: Client
  readonly hostpace: RequestOptions
  readonly retries: number
  readonly abort: Abort | undefined
  /** It runs under a signal that many share. */
  readonly sharesSignal: boolean
}

export function taskOf(seed: number, id: number, clients: readonly Client[]): Task {
  const random = new Random(seed, id)
  const client = random.one(clients)
  const abort = random.pick<Abort | undefined>([
    [84, undefined],
    [1, { at: 'start' }],
    [7, { at: 'time', afterMs: random.between(0, 1000) }],
    [4, { at: 'wire', afterMs: random.between(0, 60) }],
    [4, { at: 'body', hangsUp: random.chance(0.5) }],
  ])
  const own: RequestOptions = {
    cost: random.pick([
      [94, 1],
      [4, 2],
      [2, 5],
    ]),
    priority: random.pick([
      [80, 0],
      [10, 1],
      [10, -1],
    ]),
    maxWaitMs: random.chance(0.1) ? random.between(1, 1500) : undefined,
  }
  return {
    id,
    client,
    hostpace: client.takesOptions ? own : {},
    retries: random.chance(0.2) ? random.between(1, 2) : 0,
    abort,
    sharesSignal: abort === undefined && random.chance(0.4),
  }
}
