import type { Pacer } from '@hostpace/core'
import { crawl } from '../crawler.ts'
import { pacedClients } from './clients.ts'
import { type HostName, hostNames } from './hosts.ts'
import { type HostProgress, showProgress } from './progress.ts'
import type { StartedTargets } from './targets/start-targets.ts'
import { addWait, type Waits } from './waits.ts'

export interface VisitOptions {
  /** Sends everything without pacing it. */
  rude: boolean
  signal: AbortSignal
}

export interface Visit {
  /** What went wrong, one line each. */
  failures: string[]
  /** How often and how long the frontier put URLs off, by host and layer. */
  waits: Record<HostName, Waits>
}

/** Fetches every page of the targets while showing how far it is. */
export async function visit(targets: StartedTargets, pacer: Pacer, { rude, signal }: VisitOptions): Promise<Visit> {
  const failures: string[] = []
  const waits: Visit['waits'] = { interval: {}, quota: {}, busy: {}, moved: {} }
  const hosts = watchHosts(targets, pacer)
  const { clients, close } = pacedClients(pacer, { skip: rude })
  const progress = showProgress(hosts.read)
  try {
    await crawl({
      pacer,
      clients,
      seeds: Object.values(targets.origins).map((origin) => `${origin}/index.html`),
      follow: (url) => Object.values(targets.origins).includes(new URL(url).origin),
      onTask: ({ url, reservation, waitedMs }) => {
        const name = hostNames.find((host) => url.startsWith(`${targets.origins[host]}/`))
        if (name !== undefined && reservation.waitMs > 0) addWait(waits[name], reservation.layer, waitedMs)
      },
      onPage: (page, requested) => {
        hosts.count(requested, page.url)
        if (page.status !== 200) failures.push(`${requested} answered ${page.status}`)
      },
      onFailure: (url, error) => failures.push(`${url} failed: ${error}`),
      signal,
    })
  } finally {
    hosts.close()
    await progress.stop()
    await close()
  }
  for (const name of hostNames) {
    const { done, total } = hosts.read(name)
    if (done !== total) failures.push(`${name} has ${total} pages, ${done} were found`)
  }
  return { failures, waits }
}

/** Counts the pages of each host and looks now and then how long its next request would have to wait. */
function watchHosts({ origins, sites }: StartedTargets, pacer: Pacer) {
  const states = new Map<string, HostProgress>()
  for (const name of hostNames) {
    const { pages, unlisted = [] } = sites[name]
    states.set(origins[name], { done: 0, total: 1 + pages.length + unlisted.length, note: '' })
  }
  const timer = setInterval(async () => {
    for (const [origin, state] of states) {
      const { waitMs, layer } = await pacer.peek(origin)
      state.note = waitMs === 0 ? '' : `next in ${(waitMs / 1000).toFixed(1)} s (${layer})`
    }
  }, 100)
  return {
    read: (name: HostName) => states.get(origins[name]) as HostProgress,
    /** A page that was redirected counts for both hosts. */
    count(...urls: string[]) {
      for (const origin of new Set(urls.map((url) => new URL(url).origin))) {
        const state = states.get(origin)
        if (state !== undefined) state.done += 1
      }
    },
    close: () => clearInterval(timer),
  }
}
