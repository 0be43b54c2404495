import { createPacer, type Explanation, type Pacer } from '@hostpace/core'
import { robots } from '@hostpace/robots'
import { durationOption, showDuration } from '../durations.ts'
import { CliError, messageOf } from '../errors.ts'
import { type Answer, type DerivedPolicy, derivePolicy, limitHeaders, type RobotsText } from '../explanation.ts'
import type { Io } from '../io.ts'
import { printableLines } from '../printable.ts'

export interface ExplainOptions {
  readonly userAgent: string
  readonly timeout: string
  readonly method: 'HEAD' | 'GET'
  readonly json?: boolean
}

/** How long somebody at a terminal waits without being told why. */
const quietMs = 1500
/** How long they wait at all. */
const longestWaitMs = 60_000

/**
 * `hostpace explain`: asks a host for its robots.txt and, if that lets it within a minute, for the URL, at the pace that the
 * host asks for, and tells what policy comes of it.
 */
export async function explainCommand(url: string, options: ExplainOptions, io: Io): Promise<number> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw new CliError(`explain takes a URL such as https://example.com/, got '${url}'`)
  }
  const timeoutMs = durationOption('--timeout', options.timeout, 1)
  const { userAgent, method } = options
  let file: RobotsText | undefined
  let failure: CliError | undefined
  const lookup = robots({
    userAgent,
    timeoutMs,
    async fetch(robotsUrl: string, init?: RequestInit) {
      const response = await fetch(robotsUrl, init).catch((error) => {
        failure = new CliError(`${robotsUrl} cannot be asked: ${messageOf(error)}`, { cause: error })
        throw failure
      })
      const { status, headers } = response
      // The body is read by the look-up; its copy is only for pointing at a line.
      const text = response.ok ? await response.clone().text() : ''
      file = { url: robotsUrl, status, headers, text }
      return response
    },
  })
  const pacer = createPacer({ policyFor: lookup })
  try {
    const { waitMs } = await pacer.peek(url)
    const isAllowed = await lookup.allowed(url)
    if (failure !== undefined) throw failure
    const isAsked = isAllowed && waitMs <= longestWaitMs
    if (isAsked && waitMs > quietMs) io.err(printableLines([`waiting ${inSeconds(waitMs)}, as the host asks`]))
    const answer = isAsked ? await ask(pacer, url, { method, userAgent, timeoutMs }) : undefined
    const explanation = await pacer.explain(url)
    const productToken = /^[^\s/(;]+/.exec(userAgent)?.[0] ?? userAgent
    const derived = derivePolicy(explanation.policy.intervalMs, file, productToken, answer, Date.now())
    const found = {
      url,
      allowed: isAllowed,
      waitMs,
      robots: file && { url: file.url, status: file.status },
      answer: answer && { status: answer.status, location: answer.headers.get('location') },
      ...derived,
      pacer: explanation,
    }
    io.out(printableLines(options.json ? [JSON.stringify(found)] : linesOf(found, answer)))
    return 0
  } finally {
    await pacer.close()
  }
}

async function ask(
  pacer: Pacer,
  url: string,
  { method, userAgent, timeoutMs }: { method: string; userAgent: string; timeoutMs: number },
): Promise<Answer> {
  try {
    const response = await pacer.run(
      url,
      async (permit) => {
        const answer = await fetch(url, {
          method,
          redirect: 'manual',
          headers: { 'user-agent': userAgent },
          signal: AbortSignal.timeout(timeoutMs),
        })
        // fetch does not tell when it was on the wire. It was by now, so the next one is not too near to it.
        permit.sent()
        return answer
      },
      { reportsSent: true },
    )
    await response.body?.cancel()
    return { url, status: response.status, headers: response.headers }
  } catch (error) {
    throw new CliError(`${url} cannot be asked: ${messageOf(error)}`, { cause: error })
  }
}

interface Found extends DerivedPolicy {
  readonly url: string
  readonly allowed: boolean
  readonly robots: { readonly url: string; readonly status: number } | undefined
  /** What the URL answered, if it was asked for. */
  readonly answer: { readonly status: number; readonly location: string | null } | undefined
  /** How long the host asked to wait before the URL is asked for. */
  readonly waitMs: number
  readonly pacer: Explanation
}

function linesOf(
  { url, allowed, waitMs, robots, policy, parts, notes, pacer }: Found,
  answer: Answer | undefined,
): string[] {
  const rules = robots === undefined ? 'could not be had' : `${robots.url} answered ${robots.status}`
  const mayAsk = allowed ? 'it may be asked for' : 'it may not be asked for, and was not'
  return [
    url,
    `  robots.txt: ${rules}; ${mayAsk}`,
    ...(allowed ? [answer === undefined ? tooLong(waitMs) : answerLine(answer)] : []),
    '',
    JSON.stringify(policy),
    ...parts.map(({ field, value, source }) => `  ${field} ${JSON.stringify(value)}: ${source}`),
    ...notes.map((note) => `  ${note}`),
    '',
    'As a pacer has it after these requests:',
    ...String(pacer).split('\n'),
  ]
}

function tooLong(waitMs: number): string {
  const most = showDuration(longestWaitMs)
  return `  the URL was not asked for: the host asks to wait ${inSeconds(waitMs)}, more than ${most}`
}

function answerLine({ status, headers }: Answer): string {
  const location = headers.get('location')
  const leading = location === null ? '' : `, location: ${location}`
  return `  the URL answered ${status}${leading}; ${limitHeaders(headers) || 'no headers that speak of limits'}`
}

/** A wait without the fraction that has passed since it was asked for. */
function inSeconds(ms: number): string {
  return showDuration(Math.ceil(ms / 1000) * 1000)
}
