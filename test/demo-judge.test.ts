import type { Policy } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { formatLogLine, type LoggedRequest, parseAccessLog } from '../examples/demo/access-log.ts'
import { judge, mostIn } from '../examples/demo/judge.ts'
import { latenessOf } from '../examples/demo/targets/stalls.ts'

/** A log of requests that arrived at these times and were answered at once. */
function log(...times: number[]): LoggedRequest[] {
  return times.map((time) => request(time))
}

function request(arrivedMs: number, more: Partial<LoggedRequest> = {}): LoggedRequest {
  return { arrivedMs, answeredMs: arrivedMs, status: 200, path: '/', client: 'got', ...more }
}

const interval: Policy = { intervalMs: 500 }
const quota: Policy = { quotas: [{ limit: 3, windowMs: 1000 }] }
const bucket: Policy = { rate: '2r/s', capacity: 3 }

describe('judge', () => {
  const cases: [name: string, policy: Policy, times: number[], violations: number][] = [
    ['no requests', interval, [], 0],
    ['a single request', interval, [0], 0],
    ['gaps as declared', interval, [0, 500, 1000], 0],
    ['a gap short by the resolution of the log', interval, [0, 499, 999], 0],
    ['a gap short by more', interval, [0, 498, 998], 1],
    ['two short gaps', interval, [0, 100, 200, 700], 2],
    ['a full window', quota, [0, 1, 2, 1000], 0],
    ['a window that is full to the millisecond', quota, [0, 1, 2, 999], 0],
    ['one too many in a window', quota, [0, 1, 2, 998], 1],
    ['one too many across the edge of an aligned window', quota, [900, 901, 902, 1100], 1],
    ['a burst of the capacity', bucket, [0, 0, 0, 500, 1000], 0],
    ['a burst of one more', bucket, [0, 0, 0, 0], 1],
    ['a bucket emptied twice', bucket, [0, 0, 0, 1500, 1500, 1500], 0],
    ['a bucket emptied again too soon', bucket, [0, 0, 0, 1400, 1400, 1400], 1],
  ]
  test.each(cases)('%s', (_, policy, times, violations) => {
    expect(judge(log(...times), policy).violations).toHaveLength(violations)
  })

  test('counts as many refusals as were expected, and no more', () => {
    const refusals = [request(0, { status: 429 }), request(500), request(1000, { status: 503 })]
    expect(judge(refusals, interval, { expectedRefusals: 2 })).toMatchObject({ refused: 2, violations: [] })
    expect(judge(refusals, interval, { expectedRefusals: 1 }).violations).toHaveLength(1)
  })

  test('sees who comes during a hold, but not who was under way when it began', () => {
    const held = request(0, { answeredMs: 10, status: 429, retryAfterMs: 1000 })
    const options = { expectedRefusals: 1 }
    expect(judge([held, request(5), request(1009)], {}, options).violations).toEqual([])
    expect(judge([held, request(1008)], {}, options).violations).toEqual(['a request 998 ms after Retry-After: 1'])
  })

  test('takes a stamp that may be late for the earliest that it may stand for', () => {
    const late = (lateMs: number) => [request(0), request(540, { lateMs }), request(1000)]
    expect(judge(late(38), interval).violations).toHaveLength(1)
    expect(judge(late(39), interval)).toMatchObject({ violations: [], smallestGapMs: 460, resolutionMs: 40 })
    const window = (lateMs: number) => [request(0, { lateMs }), ...log(1, 2, 990)]
    expect(judge(window(8), quota).violations).toHaveLength(1)
    expect(judge(window(9), quota).violations).toEqual([])
  })

  test('knows how late a stamp may be from when the target was held up', () => {
    const stalls = [{ fromMs: 100, toMs: 140 }]
    expect([100, 101, 140, 142, 143].map((stampMs) => latenessOf(stampMs, stalls))).toEqual([0, 1, 40, 42, 0])
  })

  test('sums up', () => {
    expect(judge(log(0, 500, 1100), interval)).toEqual({
      requests: 3,
      spanMs: 1100,
      resolutionMs: 1,
      smallestGapMs: 500,
      worstWindow: { count: 2, windowMs: 1000, limit: 2 },
      refused: 0,
      allowed: 3,
      violations: [],
    })
    expect(judge(log(0, 1, 2, 5000), quota).worstWindow).toEqual({ count: 3, windowMs: 1000, limit: 3 })
  })
})

test('mostIn takes the strictest rule', () => {
  expect(mostIn(1000, interval)).toBe(3)
  expect(mostIn(999, interval)).toBe(2)
  expect(mostIn(2000, quota)).toBe(9)
  expect(mostIn(1000, bucket)).toBe(5)
  expect(mostIn(1000, { rate: '5r/s' })).toBe(10)
  expect(mostIn(1000, { ...interval, ...quota, ...bucket })).toBe(3)
})

describe('the access log', () => {
  test('is read as nginx writes it, in the order of arrival', () => {
    const lines = `{"msec":1700000000.100,"request_time":0.030,"status":200,"request_uri":"/b","http_user_agent":"axios","sent_http_retry_after":""}
{"msec":1700000000.110,"request_time":0.090,"status":429,"request_uri":"/a","http_user_agent":"got","sent_http_retry_after":"1.5"}
`
    expect(parseAccessLog(lines)).toEqual([
      {
        arrivedMs: 1700000000020,
        answeredMs: 1700000000110,
        status: 429,
        path: '/a',
        client: 'got',
        retryAfterMs: 1500,
      },
      { arrivedMs: 1700000000070, answeredMs: 1700000000100, status: 200, path: '/b', client: 'axios' },
    ])
  })

  test('is read as it was written', () => {
    const requests = [request(1700000000000, { answeredMs: 1700000000012, path: '/"x"' }), request(1700000000500)]
    expect(parseAccessLog(requests.map(formatLogLine).join(''))).toEqual(requests)
  })
})
