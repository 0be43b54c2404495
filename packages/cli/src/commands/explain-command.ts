import { createPacer, type Pacer } from '@hostpace/core'
import { robots } from '@hostpace/robots'
import { durationOption, showDuration } from '../durations.ts'
import { CliError, messageOf } from '../errors.ts'
import { type Answer, type DerivedPolicy, derivePolicy, limitHeaders, type RobotsText } from '../explanation.ts'
import type { Io } from '../io.ts'

export interface ExplainOptions {
  readonly userAgent: string
  readonly timeout: string
  readonly method: 'HEAD' | 'GET'
  readonly json?: boolean
}

/** How long somebody at a terminal waits without being told why. */
const quietMs = 1500

/**
 * `hostpace explain`: asks a host for its robots.txt and, if that lets it, for the URL, at the pace that the host asks for,
 * and tells what policy comes of it.
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
    const isAllowed = await allowed(pacer, lookup, url, io)
    if (failure !== undefined) throw failure
    const answer = isAllowed ? await ask(pacer, url, { method, userAgent, timeoutMs }) : undefined
    const explanation = await pacer.explain(url)
    const productToken = /^[^\s/(;]+/.exec(userAgent)?.[0] ?? userAgent
    const derived = derivePolicy(explanation.policy.intervalMs, file, productToken, answer, Date.now())
    const found = { url, allowed: isAllowed, robots: file && { url: file.url, status: file.status }, ...derived }
    io.out(
      options.json
        ? `${JSON.stringify({ ...found, pacer: explanation })}\n`
        : textOf(found, answer, String(explanation)),
    )
    return 0
  } finally {
    await pacer.close()
  }
}

async function allowed(pacer: Pacer, lookup: ReturnType<typeof robots>, url: string, io: Io): Promise<boolean> {
  const { waitMs } = await pacer.peek(url)
  const isAllowed = await lookup.allowed(url)
  if (isAllowed && waitMs > quietMs) io.err(`waiting ${showDuration(waitMs)}, as the host asks\n`)
  return isAllowed
}

async function ask(
  pacer: Pacer,
  url: string,
  { method, userAgent, timeoutMs }: { method: string; userAgent: string; timeoutMs: number },
): Promise<Answer> {
  try {
    const response = await pacer.run(url, () =>
      fetch(url, {
        method,
        redirect: 'manual',
        headers: { 'user-agent': userAgent },
        signal: AbortSignal.timeout(timeoutMs),
      }),
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
}

function textOf(
  { url, allowed, robots, policy, parts, notes }: Found,
  answer: Answer | undefined,
  pacer: string,
): string {
  const rules = robots === undefined ? 'could not be had' : `${robots.url} answered ${robots.status}`
  const mayAsk = allowed ? 'it may be asked for' : 'it may not be asked for, and was not'
  const headers = answer && limitHeaders(answer.headers)
  return [
    url,
    `  robots.txt: ${rules}; ${mayAsk}`,
    ...(answer ? [`  the URL answered ${answer.status}; ${headers || 'no headers that speak of limits'}`] : []),
    '',
    JSON.stringify(policy),
    ...parts.map(({ field, value, source }) => `  ${field} ${JSON.stringify(value)}: ${source}`),
    ...notes.map((note) => `  ${note}`),
    '',
    'As a pacer has it after these requests:',
    pacer,
    '',
  ].join('\n')
}
