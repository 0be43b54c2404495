import { isIP } from 'node:net'
import { hostOf, hostOfUrl } from './hosts.ts'
import { LineError, type LogEntry } from './log-entry.ts'
import { readLogDate } from './moments.ts'

/** A field in quotes, in which `\` takes the meaning from a quote or a backslash. */
const quoted = /"((?:[^"\\]|\\.)*)"/y
const status = / (\d{3}|-) (\d+|-)/y

/**
 * Reads a line of the common or the combined log format of Apache and nginx, with what is logged behind them, and with the
 * name of the host in front, as `vhost_combined` has it.
 *
 * @throws {LineError} if it is none
 */
export function readCombined(text: string, line: number): LogEntry {
  const open = text.indexOf('[')
  const close = text.indexOf(']', open)
  const date = open < 0 ? undefined : dateOf(text, open, close)
  if (date === undefined) throw new LineError('has no date such as [10/Oct/2000:13:55:36 -0700]', Math.max(0, open) + 1)
  const { host, client } = before(text.slice(0, date.open))
  let end = date.close + 1
  const next = (pattern: RegExp, expected: string): RegExpExecArray => {
    pattern.lastIndex = end
    const found = pattern.exec(text)
    if (found === null) throw new LineError(`has no ${expected}`, Math.min(end, text.length) + 1)
    end = pattern.lastIndex
    return found
  }
  end += text[end] === ' ' ? 1 : 0
  const [, request = ''] = next(quoted, 'request in quotes')
  next(status, 'status and size')
  const hasAgent = text[end] === ' ' && text[end + 1] === '"'
  let userAgent: string | undefined
  if (hasAgent) {
    end++
    next(quoted, 'referrer in quotes')
    if (text[end] === ' ') end++
    const [, agent = ''] = next(quoted, 'user agent in quotes')
    userAgent = unescaped(agent)
  }
  // A proxy is asked for whole URLs.
  const target = request.split(' ')[1] ?? ''
  return { ...date.moment, line, host: host ?? hostOfUrl(target), client, userAgent }
}

/** The date between brackets. An IPv6 host in front may have brackets of its own. */
function dateOf(text: string, open: number, close: number) {
  for (
    let [from, to] = [open, close];
    from >= 0 && to > from;
    from = text.indexOf('[', from + 1), to = text.indexOf(']', from)
  ) {
    const moment = readLogDate(text.slice(from + 1, to))
    if (moment !== undefined) return { moment, open: from, close: to }
    // What is in quotes can look like anything.
    if (text.lastIndexOf('"', from) >= 0) return undefined
  }
  return undefined
}

/** What stands before the date: client, identity and user, and perhaps the host before those. A user may have spaces. */
function before(text: string): { host: string | undefined; client: string } {
  const [first = '', second = '', ...rest] = text.trimEnd().split(' ')
  if (rest.length === 0) throw new LineError('does not begin with a client, an identity and a user', 1)
  const hasHost = isIP(first) === 0 && isIP(second) !== 0
  return hasHost ? { host: hostOf(first), client: second } : { host: undefined, client: first }
}

/** Apache writes `\"`, `\\`, `\t` and `\xhh`, nginx `\xHH` alone. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:x([\da-fA-F]{2})|(.))/g, (_, hex: string | undefined, plain: string) =>
    hex === undefined ? (controls[plain] ?? plain) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

const controls: Readonly<Record<string, string>> = { b: '\b', n: '\n', r: '\r', t: '\t', v: '\v' }
