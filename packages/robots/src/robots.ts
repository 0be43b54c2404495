import type { Policy, PolicyFor, PolicyLookup } from '@hostpace/core'
import { CrawlDelayError, DisallowedError } from './errors.ts'
import { type RobotsFile, RobotsFiles } from './robots-files.ts'
import { type RobotsOptions, readOptions, type Settings } from './robots-options.ts'
import { originsOfKey, robotsOriginOf } from './robots-origin.ts'

/** Looks up what hosts ask for in their robots.txt: the `policyFor` of a pacer. */
export interface Robots extends PolicyFor {
  /**
   * Whether robots.txt lets the crawler ask for this URL. It goes by the file that the pacer goes by. Where that has not
   * been asked for yet it is, through the pacer, and this waits for it.
   *
   * While a host cannot say what is allowed, nothing is (RFC 9309, section 2.3.1.4). Its robots.txt always is.
   *
   * @throws {TypeError} if `url` is not a URL with a host
   * @throws {Error} if no pacer has asked for a policy yet; `await pacer.peek(url)` makes it do so
   * @throws what the pacer refuses the request for robots.txt with
   */
  allowed(url: string | URL): Promise<boolean>
}

/**
 * Makes the `policyFor` of a pacer that keeps each host to its robots.txt.
 *
 * ```ts
 * const pacer = createPacer({ policyFor: robots({ userAgent: 'mybot' }) })
 * ```
 *
 * The robots.txt of an origin is asked for through the pacer when the origin is first met, once however many wait for
 * it, and again after 24 hours (RFC 9309, section 2.4). The longest gap that its `Crawl-delay` and `Request-rate` ask for
 * becomes the interval of the host. Make one for each pacer.
 *
 * @throws {PolicyError} if an option makes no sense; its `path` names it
 */
export function robots(options: RobotsOptions): Robots {
  const settings = readOptions(options)
  const files = new RobotsFiles(settings)

  async function policyFor(key: string, lookup: PolicyLookup): Promise<Policy | undefined> {
    files.askThrough(lookup)
    let file: RobotsFile | undefined
    for (const origin of originsOfKey(key)) {
      file = await files.of(origin)
      if (file.unreachable === undefined) break
    }
    if (file === undefined) return undefined
    lookup.validFor(Math.max(0, file.dueAtMs - files.now()))
    return policyOf(file.rules.delayMs, settings)
  }

  async function allowed(url: string | URL): Promise<boolean> {
    const origin = robotsOriginOf(url)
    const target = new URL(url)
    return origin === undefined || isRobotsTxt(target) || (await files.of(origin)).rules.allows(target)
  }

  async function check(url: URL, key: string): Promise<void> {
    const origin = robotsOriginOf(url)
    if (origin === undefined || isRobotsTxt(url)) return
    const { rules, unreachable } = await files.of(origin)
    if (settings.enforce && !rules.allows(url)) throw new DisallowedError(url.href, key, unreachable)
    const { maxCrawlDelayMs, onTooLong } = settings
    if (onTooLong === 'skip' && (rules.delayMs ?? 0) > maxCrawlDelayMs) {
      throw new CrawlDelayError(url.href, key, rules.delayMs as number, maxCrawlDelayMs)
    }
  }

  const mayRefuse = settings.enforce || settings.onTooLong === 'skip'
  return Object.assign(policyFor, { allowed, ...(mayRefuse && { check }) })
}

function policyOf(delayMs: number | undefined, { maxCrawlDelayMs, onTooLong }: Settings): Policy | undefined {
  if (delayMs === undefined) return undefined
  return { intervalMs: onTooLong === 'cap' ? Math.min(delayMs, maxCrawlDelayMs) : delayMs }
}

/** The file itself may always be asked for (RFC 9309, section 2.2.2). */
function isRobotsTxt({ pathname }: URL): boolean {
  return pathname === '/robots.txt'
}
