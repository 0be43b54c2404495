import type { PolicyLookup } from '@hostpace/core'
import type { Settings } from './robots-options.ts'
import { mostBytes, robotsText } from './robots-text.ts'

/** What came of asking for a robots.txt (RFC 9309, section 2.3.1). */
export type Found =
  | { readonly kind: 'text'; readonly text: string }
  /** There is none, so there are no rules. */
  | { readonly kind: 'none' }
  /** The host did not say. */
  | { readonly kind: 'unreachable'; readonly cause: unknown }

/** As much of a response as counts; its status and headers are for the pacer to observe. */
interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly isHidden: boolean
  readonly bytes: Uint8Array
}

const mostRedirects = 5
const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Asks an origin for its robots.txt. Each request waits its turn at the host that it goes to, also when that is another
 * one by a redirect; the rules are those of `origin` all the same (RFC 9309, section 2.3.1.2).
 *
 * @throws what the pacer refuses a request with
 */
export async function fetchRobots(origin: string, lookup: PolicyLookup, settings: Settings): Promise<Found> {
  let url = `${origin}/robots.txt`
  for (let followed = 0; followed <= mostRedirects; followed++) {
    const answer = await ask(url, lookup, settings)
    if ('cause' in answer) return answer
    const { status, headers, bytes } = answer
    if (redirects.has(status)) {
      const next = targetOf(headers.get('location'), url)
      if (next === undefined) return { kind: 'none' }
      url = next
    } else if (status >= 200 && status < 300) {
      return { kind: 'text', text: robotsText(bytes, headers.get('content-type') ?? '') }
    } else if (status === 429 || status >= 500 || !(status >= 100)) {
      return { kind: 'unreachable', cause: new Error(`${url} was answered with status ${status}`) }
    } else return { kind: 'none' }
  }
  return { kind: 'none' }
}

/** Whether an error is a refusal of a pacer, and not word of the host. */
function isRefusal(error: unknown): boolean {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  return typeof code === 'string' && code.startsWith('ERR_HOSTPACE_')
}

type Unreachable = Extract<Found, { kind: 'unreachable' }>

async function ask(url: string, lookup: PolicyLookup, settings: Settings): Promise<Answer | Unreachable> {
  try {
    const answer = await lookup.run(url, () => send(url, settings, 'manual'))
    // A browser does not show redirects, so it has to follow them itself.
    return answer.isHidden ? await lookup.run(url, () => send(url, settings, 'follow')) : answer
  } catch (cause) {
    if (isRefusal(cause)) throw cause
    return { kind: 'unreachable', cause }
  }
}

/** Sends one request, which is given up when its time is over, whatever `fetch` makes of the signal. */
function send(url: string, settings: Settings, redirect: 'manual' | 'follow'): Promise<Answer> {
  const { userAgent, timeoutMs } = settings
  const giveUp = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const reason = new Error(`${url} was not answered within ${timeoutMs} ms`)
      reject(reason)
      giveUp.abort(reason)
    }, timeoutMs)
  })
  const init: RequestInit = { redirect, headers: { 'user-agent': userAgent }, signal: giveUp.signal }
  return Promise.race([answerTo(url, init, settings), late]).finally(() => clearTimeout(timer))
}

async function answerTo(url: string, init: RequestInit, { fetch }: Settings): Promise<Answer> {
  const response: Response = await fetch(url, init)
  const { status, headers, type } = response
  return { status, headers, isHidden: type === 'opaqueredirect', bytes: await bytesOf(response) }
}

/** The body of an answer that may have rules, and a little more of it than counts. */
async function bytesOf(response: Response): Promise<Uint8Array> {
  const { ok, body } = response
  // A body that is no stream of the platform, as node-fetch has it, is read whole.
  if (typeof body?.getReader !== 'function') return new Uint8Array(ok ? await response.arrayBuffer() : [])
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  while (ok && length <= mostBytes) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    length += value.length
  }
  // Frees the connection. What is left does not count, so it may fail.
  reader.cancel().catch(() => {})
  return joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let end = 0
  for (const chunk of chunks) {
    bytes.set(chunk, end)
    end += chunk.length
  }
  return bytes
}

/** Where a redirect leads, if that is somewhere that can be asked. */
function targetOf(location: string | null, base: string): string | undefined {
  if (location === null || !URL.canParse(location, base)) return undefined
  const url = new URL(location, base)
  const isPlain = url.username === '' && url.password === ''
  return isPlain && /^https?:$/.test(url.protocol) ? url.href : undefined
}
