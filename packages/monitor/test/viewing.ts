import type { Pacer } from '@hostpace/core'
import type { Monitor } from '@hostpace/monitor'
import { vi } from 'vitest'
import type { Row, Update } from '../src/update.ts'

/** Somebody who looks at the page: the updates that came, and what they add up to. */
export class Viewing {
  readonly updates: Update[] = []
  readonly rows: Map<string, Row> = new Map()
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  /** As readers do, it asks for more as soon as it has something. */
  #read: Promise<ReadableStreamReadResult<Uint8Array>> | undefined
  #text = ''
  isOver = false

  constructor(response: Response) {
    if (response.body === null) throw new Error('there is nothing to view')
    this.#reader = response.body.getReader()
  }

  static async of(monitor: Monitor): Promise<Viewing> {
    return new Viewing(await monitor.fetch(new Request('https://ops.example/pace?events=')))
  }

  /** Waits for the next update. */
  async next(): Promise<Update> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end >= 0) return this.#take(end)
      const { done, value } = await (this.#read ?? this.#reader.read())
      this.#read = this.#reader.read()
      this.#read.catch(() => {})
      if (done) {
        this.isOver = true
        throw new Error('the updates have ended')
      }
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  leave(): Promise<void> {
    return this.#reader.cancel()
  }

  #take(end: number): Update {
    const event = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 2)
    if (!event.startsWith('data: ') || event.includes('\n')) throw new Error(`not one line of data: ${event}`)
    const update = JSON.parse(event.slice('data: '.length)) as Update
    this.updates.push(update)
    if (update.isFirst) this.rows.clear()
    for (const row of update.rows) this.rows.set(row.key, row)
    for (const key of update.gone) this.rows.delete(key)
    return update
  }
}

/** How many listeners a pacer has at present that came after this. */
export function countListeners(pacer: Pacer): () => number {
  let count = 0
  const on = pacer.on.bind(pacer)
  vi.spyOn(pacer, 'on').mockImplementation((name, listener) => {
    const end = on(name, listener)
    count++
    let hasEnded = false
    return () => {
      if (!hasEnded) count--
      hasEnded = true
      end()
    }
  })
  return () => count
}
