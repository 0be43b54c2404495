import { get } from 'node:http'
import { wallMs } from '../../examples/demo/targets/stalls.ts'

/**
 * Measures what lies between the moment at which a request is written and the server's stamp: ten times a second a
 * request of its own, each by a new connection, which is the slowest way.
 */
export class Probe {
  readonly #delaysMs: number[] = []
  readonly #timer: NodeJS.Timeout

  constructor(url: string) {
    this.#timer = setInterval(() => this.#ask(url), 100)
  }

  /** @returns milliseconds; the median, what 99 of 100 stay below, and the longest */
  stop(): { medianMs: number; p99Ms: number; longestMs: number } {
    clearInterval(this.#timer)
    const sorted = this.#delaysMs.sort((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
    return { medianMs: at(0.5), p99Ms: at(0.99), longestMs: at(1) }
  }

  #ask(url: string): void {
    let sentAtMs = Number.NaN
    const request = get(url, { agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      this.#delaysMs.push(Number(text) - sentAtMs)
    })
    request.once('socket', (socket) =>
      socket.prependOnceListener('connect', () => {
        sentAtMs = wallMs()
      }),
    )
  }
}
