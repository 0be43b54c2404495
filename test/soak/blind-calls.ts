import { wallMs } from '../../examples/demo/targets/stalls.ts'

/**
 * When `fetch` was called for each request, by its number. The clients that send by it cannot tell when a request is
 * written, so the pacer counts from there, and so must whoever judges what the server saw.
 */
export class BlindCalls {
  readonly #callsMs = new Map<number, number[]>()

  /** Node's own fetch, which is looked at. */
  readonly fetch: typeof globalThis.fetch = (input, init) => {
    const id = /[?&]id=(\d+)/.exec(input instanceof Request ? input.url : String(input))?.[1]
    if (id !== undefined) this.#callsMs.set(Number(id), [...(this.#callsMs.get(Number(id)) ?? []), wallMs()])
    return globalThis.fetch(input, init)
  }

  /** How long before it arrived at this moment a request was called for; 0 if it was not sent by `fetch`. */
  delayMs(id: number, atMs: number): number {
    const lastMs = this.#callsMs.get(id)?.findLast((callMs) => callMs <= atMs)
    return lastMs === undefined ? 0 : atMs - lastMs
  }
}
