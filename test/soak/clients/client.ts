import type { RequestOptions } from '@hostpace/core'

/** One request, as a client is asked to make it. */
export interface Call {
  readonly url: string
  readonly signal: AbortSignal | undefined
  readonly hostpace: RequestOptions
  /** How often to repeat what failed, where the client does. */
  readonly retries: number
  /** To be called with the first piece of the body. @returns whether to hang up instead of reading on */
  readonly onBody: () => boolean
}

/** What has come of it, if there was an answer. */
export interface Answer {
  readonly status: number
  /** The body; `undefined` if the client has hung up. */
  readonly text: string | undefined
}

/** One way to make requests, all of which leave by the same pacer. */
export interface Client {
  readonly name: string
  /** It cannot tell when it writes a request. */
  readonly isBlind: boolean
  /** Whether it has a place for options of one request. */
  readonly takesOptions: boolean
  send(call: Call): Promise<Answer>
}

/** Clients that share their connections. */
export interface ClientGroup {
  readonly clients: readonly Client[]
  /** How many connections are in use. */
  busy(): number
  /** Closes the connections. */
  close(): Promise<void>
}

/** The longest that a request may take once it has left. */
export const timeoutMs = 600

/** How long after an abort a body may still take to fail. */
const graceMs = 1000

/**
 * What Node's own fetch has come to, unless it has been aborted and does not notice: that of Node 20 may never end a
 * body that is aborted between two of its pieces, without any pacer as well.
 */
export function orAborted<T>(sending: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return sending
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const giveUp = () => {
      timer = setTimeout(() => reject(signal.reason), graceMs)
    }
    signal.addEventListener('abort', giveUp)
    sending.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
    })
  })
}

/** Reads a stream of either kind, or hangs up in the middle: leaving the loop destroys or cancels it. */
export async function readBody(body: AsyncIterable<unknown>, onBody: () => boolean): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) {
    if (chunks.length === 0 && onBody()) return undefined
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks).toString()
}
