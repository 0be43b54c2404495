import { PolicyError } from '@hostpace/core'

/** What becomes of a delay that is longer than `maxCrawlDelayMs`. */
export type OnTooLong = 'honour' | 'skip' | 'cap'

/** What `robots` takes. */
export interface RobotsOptions {
  /**
   * The name of the crawler, as groups of robots.txt name it: letters, `-` and `_` (RFC 9309, section 2.2.1) and, since
   * there are crawlers that have them, digits and dots. A version or a comment may follow, as in
   * `mybot/1.0 (+https://my.example/bot)`.
   * The whole is sent as the `user-agent` of the requests for robots.txt.
   */
  userAgent: string
  /** What sends the requests for robots.txt. @default the `fetch` that is global when `robots` is called */
  fetch?: RobotsFetch | undefined
  /** Milliseconds; a longer delay that a host asks for is treated by `onTooLong`. Above 0. @default no limit */
  maxCrawlDelayMs?: number | undefined
  /**
   * `'honour'` waits all the same, `'cap'` waits `maxCrawlDelayMs` and no longer, `'skip'` refuses all requests to the
   * host with `CrawlDelayError`. @default 'honour'
   */
  onTooLong?: OnTooLong | undefined
  /** Whether requests that robots.txt disallows are refused with `DisallowedError`. @default false */
  enforce?: boolean | undefined
  /** Milliseconds that one request for a robots.txt may take once it is sent, body included. Above 0. @default 10 000 */
  timeoutMs?: number | undefined
}

/** Any function that is called as `fetch` is: the runtime's own, that of undici, or one with layers around it. */
// biome-ignore lint/suspicious/noExplicitAny: functions of every runtime, whose types differ, are taken as they are
export type RobotsFetch = (url: string, init?: any) => Promise<any>

/** The options, checked and complete. */
export interface Settings {
  readonly userAgent: string
  /** The name without version and comment. */
  readonly productToken: string
  readonly fetch: RobotsFetch
  readonly maxCrawlDelayMs: number
  readonly onTooLong: OnTooLong
  readonly enforce: boolean
  readonly timeoutMs: number
}

const known = ['userAgent', 'fetch', 'maxCrawlDelayMs', 'onTooLong', 'enforce', 'timeoutMs']
const choices: readonly unknown[] = ['honour', 'skip', 'cap'] satisfies OnTooLong[]

/** A name, alone or with more behind it that a header can carry; a second word is no part of a name and no version. */
const agent = /^([\w-]+(?:\.[\w-]+)*)(?:(?:[/;(]| [(+])[\x20-\x7e]*)?$/

/** What timers take. */
const mostTimeoutMs = 2 ** 31 - 1

/** @throws {PolicyError} if an option makes no sense; its `path` names it */
export function readOptions(options: RobotsOptions): Settings {
  if (typeof options !== 'object' || options === null) throw refusal('', 'must be an object', options)
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw new PolicyError(`options.${name}`, `is unknown; known here are ${known.join(', ')}`)
  }
  const { userAgent, fetch = globalThis.fetch, onTooLong = 'honour', enforce = false, timeoutMs = 10_000 } = options
  const productToken = typeof userAgent === 'string' ? agent.exec(userAgent)?.[1] : undefined
  if (productToken === undefined) {
    const expected = 'must be a name without spaces, with or without a version, such as mybot or mybot/1.0 (a comment)'
    throw refusal('userAgent', expected, userAgent)
  }
  if (typeof fetch !== 'function') throw refusal('fetch', 'must be a function', fetch)
  if (!choices.includes(onTooLong)) throw refusal('onTooLong', `must be one of 'honour', 'skip', 'cap'`, onTooLong)
  if (typeof enforce !== 'boolean') throw refusal('enforce', 'must be true or false', enforce)
  return {
    ...{ userAgent, productToken, fetch, onTooLong, enforce },
    maxCrawlDelayMs: maxOf(options.maxCrawlDelayMs, onTooLong),
    timeoutMs: positive(timeoutMs, 'timeoutMs', mostTimeoutMs),
  }
}

function maxOf(maxCrawlDelayMs: number | undefined, onTooLong: OnTooLong): number {
  if (maxCrawlDelayMs !== undefined) return positive(maxCrawlDelayMs, 'maxCrawlDelayMs', Number.MAX_SAFE_INTEGER)
  if (onTooLong === 'honour') return Number.POSITIVE_INFINITY
  throw new PolicyError('options.maxCrawlDelayMs', `is missing; onTooLong: '${onTooLong}' has no meaning without it`)
}

function positive(value: unknown, name: string, most: number): number {
  if (typeof value === 'number' && value > 0 && value <= most) return value
  throw refusal(name, `must be a finite number above 0 and at most ${most}`, value)
}

function refusal(name: string, expected: string, value: unknown): PolicyError {
  const shown =
    typeof value === 'string' ? `'${value}'` : typeof value === 'object' && value ? 'an object' : String(value)
  return new PolicyError(name === '' ? 'options' : `options.${name}`, `${expected}, got ${shown}`)
}
