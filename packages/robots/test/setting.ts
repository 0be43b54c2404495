import { createPacer, type Pacer, type PacerOptions } from '@hostpace/core'
import { type Robots, type RobotsOptions, robots } from '@hostpace/robots'
import { onTestFinished } from 'vitest'
import { TestClock } from '../../core/test/support/test-clock.ts'

/** What a host answers: a text, a status, a place to go to, a response or a failure. */
export type Page = string | number | { to: string; status?: number } | (() => Response | Promise<Response>) | Error

/** A clock that goes from timer to timer, and lets everything settle between. */
class SteppingClock extends TestClock {
  protected override settle(): Promise<void> {
    return settle()
  }
}

/** Streams take a few turns of the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A pacer that keeps to robots.txt on a clock of its own, over hosts that answer as they are told. */
export class Setting {
  readonly clock = new SteppingClock()
  readonly pacer: Pacer
  readonly robots: Robots
  /** What the hosts answer, by URL; what is not here is answered with 404. */
  readonly pages: Map<string, Page> = new Map()
  /** `URL@time` of each request for a robots.txt. */
  readonly asked: string[] = []
  readonly inits: RequestInit[] = []
  /** `path@time` of each request that left. */
  readonly starts: string[] = []
  readonly refusals: Map<string, Error & { code?: string }> = new Map()

  /** @param options of `robots` and, as `pacer`, of the pacer (1 ms between requests) */
  constructor(page: Page, { pacer, ...options }: Partial<RobotsOptions> & { pacer?: PacerOptions } = {}) {
    this.page = page
    const fetch = (url: string, init: RequestInit) => this.#answer(url, init)
    this.robots = robots({ userAgent: 'mybot', fetch, ...options })
    this.pacer = createPacer({
      clock: this.clock,
      adapt: false,
      policyFor: this.robots,
      ...(pacer ?? { intervalMs: 1 }),
    })
    onTestFinished(() => this.pacer.close())
  }

  /** Changes what `https://a.example/robots.txt` is answered with. */
  set page(page: Page) {
    this.pages.set('https://a.example/robots.txt', page)
  }

  /** Sends requests as soon as they may leave. */
  send(...urls: string[]): void {
    for (const url of urls) {
      const { href, pathname } = new URL(url, 'https://a.example')
      this.pacer.wait(href).then(
        (permit) => {
          this.starts.push(`${pathname}@${this.clock.now()}`)
          permit.done()
        },
        (error) => void this.refusals.set(url, error),
      )
    }
  }

  pass(ms: number): Promise<void> {
    return this.clock.pass(ms)
  }

  /** Moves the clock on until a promise is settled. */
  async soon<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const watched = promise.finally(() => {
      isSettled = true
    })
    watched.catch(() => {})
    await settle()
    while (!isSettled) await this.pass(1)
    return watched
  }

  /** The interval that a host has now, unless it is the one to start with. */
  async gapMs(url = 'https://a.example/'): Promise<number | undefined> {
    const { intervalMs = 1 } = (await this.soon(this.pacer.explain(url))).policy
    return intervalMs > 1 ? intervalMs : undefined
  }

  allowed(url: string | URL): Promise<boolean> {
    return this.soon(this.robots.allowed(url))
  }

  async #answer(url: string, init: RequestInit): Promise<Response> {
    this.asked.push(`${url}@${this.clock.now()}`)
    this.inits.push(init)
    const page = this.pages.get(url) ?? 404
    if (page instanceof Error) throw page
    if (typeof page === 'function') return page()
    if (typeof page === 'string') return new Response(page)
    if (typeof page === 'number') return new Response('an error page', { status: page })
    return new Response('moved', { status: page.status ?? 301, headers: { location: page.to } })
  }
}

export const minuteMs = 60_000
export const dayMs = 86_400_000
