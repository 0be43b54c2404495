import { createPacer, type Outcome, type Pacer, type Permit, type WaitOptions } from '@hostpace/core'

/** One `wait` and all that became of its permit. */
export class RecordedWait {
  readonly url: string
  readonly options: WaitOptions
  /** `given back`: nothing was sent, and there is nothing to tell of. */
  state: 'waiting' | 'granted' | 'sent' | 'over' | 'given back' | 'aborted' = 'waiting'
  sentAtMs: number | undefined
  readonly observed: Outcome[] = []
  outcome: Outcome | undefined
  readonly #settled = withResolvers()

  constructor(url: string, options: WaitOptions) {
    this.url = url
    this.options = options
    options.signal?.addEventListener('abort', this.#abort)
  }

  get origin(): string {
    return new URL(this.url).origin
  }

  get statuses(): (number | undefined)[] {
    return this.observed.map(({ status }) => status)
  }

  readonly #abort = () => {
    this.state = 'aborted'
    this.options.signal?.removeEventListener('abort', this.#abort)
    this.#settled.reject(this.options.signal?.reason)
  }

  grant(): void {
    if (this.state !== 'waiting') return
    this.state = 'granted'
    this.options.signal?.removeEventListener('abort', this.#abort)
    this.#settled.resolve(undefined)
  }

  refuse(error: Error): void {
    this.options.signal?.removeEventListener('abort', this.#abort)
    this.#settled.reject(error)
  }

  async permit(): Promise<Permit> {
    await this.#settled.promise
    return {
      key: this.options.key ?? this.origin,
      waitedMs: 0,
      layer: 'none',
      sent: () => {
        if (this.state === 'granted') {
          this.state = 'sent'
          this.sentAtMs = performance.now()
        }
      },
      observe: (outcome) => this.observed.push(outcome),
      done: (outcome) => {
        if (this.state === 'over' || this.state === 'given back') return
        this.state = this.state === 'granted' && outcome === undefined ? 'given back' : 'over'
        this.outcome = outcome
        if (outcome) this.observed.push(outcome)
      },
    }
  }
}

/** A pacer that writes down what adapters do with it. It grants at once, except for what `holds` says. */
export class RecordingPacer {
  /** A pacer whose `wait` is the one below. */
  readonly asPacer: Pacer = Object.assign(createPacer(), {
    wait: (url: string | URL, options?: WaitOptions) => this.wait(url, options),
  })
  readonly waits: RecordedWait[] = []
  /** Which waits are left for the test to grant, by URL and by their number from 0. */
  holds: (url: string, nth: number) => boolean = () => false
  #watchers: (() => void)[] = []

  wait(url: string | URL, options: WaitOptions = {}): Promise<Permit> {
    const wait = new RecordedWait(String(url), options)
    this.waits.push(wait)
    if (!this.holds(wait.url, this.waits.length - 1)) wait.grant()
    for (const watcher of this.#watchers.splice(0)) watcher()
    return wait.permit()
  }

  /** The n-th wait from 0, as soon as there is one. */
  async nth(n: number): Promise<RecordedWait> {
    while (this.waits[n] === undefined) await new Promise<void>((resolve) => this.#watchers.push(resolve))
    return this.waits[n]
  }

  get origins(): string[] {
    return this.waits.map(({ origin }) => origin)
  }

  get states(): string[] {
    return this.waits.map(({ state }) => state)
  }

  get statuses(): (number | undefined)[] {
    return this.waits.flatMap(({ statuses }) => statuses)
  }
}

function withResolvers() {
  let resolve!: (value?: unknown) => void
  let reject!: (reason?: unknown) => void
  const promise = new Promise<unknown>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
