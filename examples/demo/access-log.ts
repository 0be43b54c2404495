import { readFile } from 'node:fs/promises'

/** One request as the target saw it. */
export interface LoggedRequest {
  /** When the request arrived, in milliseconds since 1970 on the target's clock. */
  arrivedMs: number
  /** How much before that it may really have arrived, because the target was held up just then. @default 0 */
  lateMs?: number
  /** When the target had answered. */
  answeredMs: number
  status: number
  path: string
  /** What the `User-Agent` header said. */
  client: string
  /** The `Retry-After` that the target answered with, in milliseconds. */
  retryAfterMs?: number
}

/** The names are nginx's own variables, so that its `log_format` reads like this interface. */
interface LogLine {
  msec: number
  request_time: number
  status: number
  request_uri: string
  http_user_agent: string
  sent_http_retry_after: string
}

/** nginx's `log_format` for the lines that `parseAccessLog` reads; the Node targets write the same. */
export const nginxLogFormat = `log_format lines escape=json
    '{"msec":$msec,"request_time":$request_time,"status":$status,"request_uri":"$request_uri",'
    '"http_user_agent":"$http_user_agent","sent_http_retry_after":"$sent_http_retry_after"}';`

/** Writes one line as nginx would with `nginxLogFormat`. */
export function formatLogLine(request: LoggedRequest): string {
  const line: LogLine = {
    msec: round(request.answeredMs / 1000, 3),
    request_time: round((request.answeredMs - request.arrivedMs) / 1000, 3),
    status: request.status,
    request_uri: request.path,
    http_user_agent: request.client,
    sent_http_retry_after: request.retryAfterMs === undefined ? '' : String(request.retryAfterMs / 1000),
  }
  return `${JSON.stringify(line)}\n`
}

/**
 * Reads an access log of JSON lines, in the order of arrival.
 *
 * nginx stamps a line when it has answered and says how long that took, both in whole
 * milliseconds; the difference is when the request arrived.
 */
export function parseAccessLog(text: string): LoggedRequest[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map(parseLine).sort((a, b) => a.arrivedMs - b.arrivedMs)
}

export async function readAccessLog(path: string): Promise<LoggedRequest[]> {
  return parseAccessLog(await readFile(path, 'utf8'))
}

function parseLine(line: string): LoggedRequest {
  const { msec, request_time, status, request_uri, http_user_agent, sent_http_retry_after } = JSON.parse(
    line,
  ) as LogLine
  const answeredMs = round(msec * 1000, 0)
  const request: LoggedRequest = {
    arrivedMs: answeredMs - round(request_time * 1000, 0),
    answeredMs,
    status,
    path: request_uri,
    client: http_user_agent,
  }
  if (sent_http_retry_after !== '') request.retryAfterMs = Number(sent_http_retry_after) * 1000
  return request
}

function round(value: number, digits: number): number {
  const factor = 10 ** digits
  return Math.round(value * factor) / factor
}
