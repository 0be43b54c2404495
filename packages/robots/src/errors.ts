/** The rules of a host's robots.txt do not let this URL be asked for. The request was not sent and holds no slot. */
export class DisallowedError extends Error {
  readonly code = 'ERR_HOSTPACE_DISALLOWED'
  readonly url: string
  /** What the request would have been paced by. */
  readonly key: string

  /** @param options its `cause` is why robots.txt could not be had, if that is the reason: later it may be had */
  constructor(url: string, key: string, options?: ErrorOptions) {
    const why =
      options === undefined ? 'is disallowed by robots.txt' : 'is not asked for while robots.txt is unreachable'
    super(`${url} ${why}`, options)
    this.name = 'DisallowedError'
    this.url = url
    this.key = key
  }
}

/** A host asks for a longer delay than `maxCrawlDelayMs`, and `onTooLong` is `'skip'`. The request was not sent. */
export class CrawlDelayError extends Error {
  readonly code = 'ERR_HOSTPACE_CRAWL_DELAY'
  readonly url: string
  /** What the request would have been paced by. */
  readonly key: string
  /** Milliseconds that the host asks for. */
  readonly crawlDelayMs: number
  readonly maxCrawlDelayMs: number

  constructor(url: string, key: string, crawlDelayMs: number, maxCrawlDelayMs: number) {
    super(
      `${url}: its host asks for a delay of ${crawlDelayMs} ms, which is over the maxCrawlDelayMs of ${maxCrawlDelayMs}`,
    )
    this.name = 'CrawlDelayError'
    this.url = url
    this.key = key
    this.crawlDelayMs = crawlDelayMs
    this.maxCrawlDelayMs = maxCrawlDelayMs
  }
}
