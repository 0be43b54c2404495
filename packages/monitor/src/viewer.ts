import type { Row, Update } from './update.ts'

/** Where a viewer's updates go: one stream of server-sent events. */
export interface Outlet {
  /** Whether the viewer has taken what was written so far. */
  readonly isReady: boolean
  write(text: string): void
  end(): void
}

/** What there is to tell at one moment, before it is known what a viewer has been told. */
export interface Scene extends Omit<Update, 'isFirst' | 'rows' | 'gone'> {
  readonly rows: ReadonlyMap<string, Row>
}

/** Somebody who looks at the page, and what has been told already. One who is slow misses updates, but no change. */
export class Viewer {
  readonly #outlet: Outlet
  #told: Map<string, string> | undefined

  constructor(outlet: Outlet) {
    this.#outlet = outlet
  }

  /** Sends what has changed. */
  show({ rows, ...scene }: Scene): void {
    if (!this.#outlet.isReady) return
    const told = this.#told ?? new Map<string, string>()
    const changed: Row[] = []
    for (const [key, row] of rows) {
      const text = JSON.stringify(row)
      if (told.get(key) === text) continue
      told.set(key, text)
      changed.push(row)
    }
    const gone = [...told.keys()].filter((key) => !rows.has(key))
    for (const key of gone) told.delete(key)
    const update: Update = { isFirst: this.#told === undefined, ...scene, rows: changed, gone }
    this.#told = told
    this.#outlet.write(`data: ${JSON.stringify(update)}\n\n`)
  }

  end(): void {
    this.#outlet.end()
  }
}
