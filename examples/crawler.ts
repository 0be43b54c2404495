import type { Pacer, Reservation } from '@hostpace/core'
import { Frontier, type Task } from './frontier.ts'
import { findLinks } from './links.ts'

export interface FetchedPage {
  status: number
  /** Where the page was found in the end, after redirects. */
  url: string
  html: string
}

/** Gets one page through a client that is paced by the crawl's pacer, in the slot that was reserved for it. */
export type GetPage = (url: string, reservation: Reservation, signal: AbortSignal) => Promise<FetchedPage>

export interface CrawlOptions {
  pacer: Pacer
  /** The clients, which take turns. */
  clients: readonly GetPage[]
  seeds: readonly string[]
  /** Whether a link may be followed. */
  follow: (url: string) => boolean
  /** Told of every task before it is done. */
  onTask?: (task: Task) => void
  onPage: (page: FetchedPage, requested: string) => void
  onFailure: (url: string, error: unknown) => void
  /** How many pages are fetched at once, over all hosts. @default 8 */
  concurrency?: number
  /** How often a page is tried in all. @default 3 */
  attempts?: number
  signal: AbortSignal
}

/** Fetches everything that can be reached from the seeds, each host at its own pace. */
export async function crawl(options: CrawlOptions): Promise<void> {
  const { pacer, clients, seeds, concurrency = 8, signal } = options
  const frontier = new Frontier(pacer)
  for (const seed of seeds) frontier.add(seed)
  signal.addEventListener('abort', () => frontier.stop(), { once: true })

  const running = new Set<Promise<void>>()
  let turn = 0
  for await (const task of frontier) {
    const getPage = clients[turn % clients.length] as GetPage
    turn += 1
    const work = visit(task, getPage, frontier, options).finally(() => running.delete(work))
    running.add(work)
    if (running.size >= concurrency) await Promise.race(running)
  }
  await Promise.all(running)
  signal.throwIfAborted()
}

async function visit(task: Task, getPage: GetPage, frontier: Frontier, options: CrawlOptions): Promise<void> {
  const { follow, onTask, onPage, onFailure, attempts = 3, signal } = options
  onTask?.(task)
  try {
    const page = await getPage(task.url, task.reservation, signal)
    const refused = page.status === 429 || page.status === 503
    if (refused && task.attempts + 1 < attempts) {
      // The pacer has seen the refusal too and holds the host; the next slot comes after that.
      frontier.again(task)
      return
    }
    frontier.skip(page.url)
    onPage(page, task.url)
    for (const link of findLinks(page.html, page.url)) if (follow(link)) frontier.add(link)
  } catch (error) {
    onFailure(task.url, error)
  } finally {
    frontier.finished(task)
  }
}
