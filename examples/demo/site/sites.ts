import type { HostName } from '../hosts.ts'
import type { Page, Site } from './page.ts'
import { signalPages } from './signals.ts'
import { statusCodePages } from './status-codes.ts'
import { systemErrorPages } from './system-errors.ts'

/**
 * The sites of the demo, with links from each to the others.
 *
 * The pages on redirection have moved from the host `moved` to the host `interval`. Nobody but the
 * index of the old host links to them, by their old addresses.
 */
export function buildSites(origins: Record<HostName, string>): Record<HostName, Site> {
  const moved = statusCodePages([3])
  const sites: Record<HostName, Site> = {
    interval: {
      title: 'A field guide to HTTP errors',
      introduction: 'What it means when a server says no, one page for each way of saying it.',
      pages: statusCodePages([4, 5]),
      unlisted: moved,
    },
    quota: {
      title: 'What the operating system complains about',
      introduction: 'Every error code by name, with what it stands for and where it tends to come from.',
      pages: systemErrorPages(44),
    },
    busy: {
      title: 'Signals and what they do',
      introduction: 'The short messages that processes send each other, and what happens to those who do not listen.',
      pages: signalPages(),
    },
    moved: {
      title: 'A field guide to HTTP redirection',
      introduction: 'These pages have moved, and this host forwards whoever asks for them.',
      pages: moved,
    },
  }
  crossLink(sites.interval.pages, origins.quota, sites.quota.pages)
  crossLink(sites.quota.pages, origins.busy, sites.busy.pages)
  crossLink(sites.busy.pages, origins.interval, sites.interval.pages)
  return sites
}

/** Lets each page point at two pages of the next site. */
function crossLink(from: Page[], origin: string, to: readonly Page[]): void {
  for (const [index, page] of from.entries()) {
    const targets = [index, index * 7 + 3].map((number) => to[number % to.length] as Page)
    page.seeAlso = targets.map(({ path, title }) => ({ href: origin + path, text: title }))
  }
}
