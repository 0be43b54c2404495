import { type Explanation, originOf, type Pacer } from '@hostpace/core'

/** What the figures of a host do not say. */
export interface Note {
  readonly holdReason: string | undefined
  readonly learned: string | undefined
}

/** How many hosts are explained for one update: a shared store may be asked for each. */
const mostAtOnce = 200

/** Why hosts are held and what was learned of them, as `explain` has it, asked for anew when that changes. */
export class HostNotes {
  readonly #pacer: Pacer
  readonly #notes = new Map<string, Note>()
  /** Hosts of which something has changed since they were explained. */
  readonly #outdated = new Set<string>()
  readonly #endings: (() => void)[]
  /**
   * Whether `explain` finds a key again that is taken for a URL. With a `keyBy` of the program's own it may not, and would
   * bring a host about that nobody asked for; so the first is asked alone.
   */
  #findsKeys: 'asking' | 'yes' | 'no' | undefined
  #shown: readonly string[] = []

  constructor(pacer: Pacer) {
    this.#pacer = pacer
    this.#endings = [
      pacer.on('pause', ({ key, waitMs, reason }) => {
        this.#outdated.add(key)
        this.#notes.set(key, { ...this.of(key), holdReason: waitMs > 0 ? reason : undefined })
      }),
      pacer.on('adapt', ({ key, waitMs, reason }) => {
        this.#outdated.add(key)
        this.#notes.set(key, { ...this.of(key), learned: waitMs > 0 ? textOfGap(waitMs, reason) : undefined })
      }),
    ]
  }

  of(key: string): Note {
    return this.#notes.get(key) ?? { holdReason: undefined, learned: undefined }
  }

  /**
   * Has hosts explained of which there is no note yet, or none that is up to date. What is not shown is forgotten.
   *
   * @param shown the hosts that are shown, the most interesting first
   */
  renew(shown: readonly string[]): void {
    this.#shown = shown
    const keys = new Set(shown)
    for (const key of this.#notes.keys()) if (!keys.has(key)) this.#notes.delete(key)
    for (const key of this.#outdated) if (!keys.has(key)) this.#outdated.delete(key)
    if (this.#findsKeys === 'no' || this.#findsKeys === 'asking') return
    const wanted = shown.filter((key) => (!this.#notes.has(key) || this.#outdated.has(key)) && isOrigin(key))
    for (const key of wanted.slice(0, this.#findsKeys === 'yes' ? mostAtOnce : 1)) this.#explain(key)
  }

  end(): void {
    for (const end of this.#endings) end()
  }

  #explain(key: string): void {
    this.#findsKeys ??= 'asking'
    this.#outdated.delete(key)
    this.#notes.set(key, this.of(key))
    this.#pacer.explain(key).then(
      (explanation) => {
        const isFirst = this.#findsKeys === 'asking'
        if (isFirst) this.#findsKeys = explanation.key === key ? 'yes' : 'no'
        if (explanation.key === key) this.#notes.set(key, noteOf(explanation))
        if (isFirst) this.renew(this.#shown)
      },
      () => {
        // A pacer that was closed, or a store that is down; what is known stays.
        if (this.#findsKeys === 'asking') this.#findsKeys = undefined
      },
    )
  }
}

function noteOf({ pause, learned }: Explanation): Note {
  const { gap, published = [] } = learned ?? {}
  const parts = [
    ...(gap === undefined ? [] : [textOfGap(gap.intervalMs, gap.reason)]),
    ...published.map(({ name, limit = '?', remaining = '?' }) => {
      return `${name === undefined ? '' : `${name}: `}${remaining} of ${limit} left`
    }),
  ]
  return { holdReason: pause?.reason, learned: parts.length === 0 ? undefined : parts.join('; ') }
}

function textOfGap(ms: number, reason: string): string {
  return `a gap of ${Math.round(ms)} ms, from ${reason}`
}

function isOrigin(key: string): boolean {
  try {
    return originOf(key) === key
  } catch {
    return false
  }
}
