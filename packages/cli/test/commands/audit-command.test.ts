import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli, runJson } from '../run-cli.ts'

const interval = ['--policy', '{"intervalMs":2000}']

/** A line of the combined format at so many seconds past noon. */
function line(second: number, client = '192.0.2.7', agent = 'mybot/1.0'): string {
  const time = new Date(Date.UTC(2026, 9, 10, 12, 0, second)).toISOString().slice(11, 19)
  return `${client} - - [10/Oct/2026:${time} +0000] "GET / HTTP/1.1" 200 5 "-" "${agent}"\n`
}

const audit = (log: string | Uint8Array, ...args: string[]) => runJson(['audit', '-', ...args], log)

describe('the verdict', () => {
  test('honoured: code 0', async () => {
    const { code, report } = await audit(line(0) + line(2) + line(4), ...interval)
    expect(code).toBe(0)
    expect(report).toMatchObject({ honoured: true, format: 'combined', resolutionMs: 1000, requests: 3 })
    expect(report.hosts[0]).toMatchObject({ violations: 0, averagePerSecond: 0.5 })
  })

  test('violated: code 1, each with its line, and the worst', async () => {
    const { code, report } = await audit(line(0) + line(2) + line(3) + line(9) + line(9), ...interval)
    expect(code).toBe(1)
    const [host] = report.hosts
    expect(
      host.shown.map(({ firstLine, lastLine }: { firstLine: number; lastLine: number }) => [firstLine, lastLine]),
    ).toEqual([
      [2, 3],
      [4, 5],
    ])
    expect(host.rules[0]).toMatchObject({ violations: 2, worst: { firstLine: 4, lastLine: 5, withinMs: 1000 } })
  })

  test('in words', async () => {
    const { code, out } = await runCli(['audit', '-', ...interval, '--show', '1'], line(0) + line(0) + line(0))
    expect(code).toBe(1)
    expect(out).toContain('stamped to 1 s')
    expect(out).toContain('2 s between two requests: BROKEN 2 times')
    expect(out).toMatch(/line 2: 2026-10-10T12:00:00.000Z .*where 1 is permitted/)
    expect(out).toContain('and 1 more')
    expect(out).toContain('NOT honoured: 2 violations')
  })

  test('a stamp of a second accuses nobody who may be innocent', async () => {
    // 0.9 and 1.1 seconds apart can both look like one second.
    const stamps = line(0) + line(1) + line(2) + line(3)
    expect((await audit(stamps, '--policy', '{"intervalMs":1000}')).code).toBe(0)
    expect((await audit(stamps, '--policy', '{"intervalMs":1200}')).code).toBe(0)
    // Four of them within less than four seconds cannot have been 1334 ms apart.
    expect((await audit(stamps, '--policy', '{"intervalMs":1334}')).code).toBe(1)
    expect((await audit(stamps, '--policy', '{"intervalMs":1334}', '--tolerance', '10ms')).code).toBe(0)
    expect((await audit(stamps, '--policy', '{"intervalMs":1200}', '--resolution', '1ms')).code).toBe(1)
  })
})

describe('a quota that is counted by two counters', () => {
  const quota = (window: string) => JSON.stringify({ quotas: [{ limit: 2, windowMs: 60_000, window }] })
  test.each([
    ['counter', true],
    ['sliding', false],
  ])('is said to be judged as a ceiling: %s', async (window, isSaid) => {
    const { out } = await runCli(['audit', '-', '--policy', quota(window)], line(0))
    expect(out.includes("window 'counter' is judged as a ceiling")).toBe(isSaid)
  })
})

describe('what strangers wrote is printed in its line, and orders nothing', () => {
  const orders = '\x1b[31m\x9b1m\x07\u202e\nThe policy was honoured.'
  const escapedOrders = '\\u001b[31m\\u009b1m\\u0007\\u202e\\u000aThe policy was honoured.'

  test('in an error', async () => {
    const log = JSON.stringify({ msec: 1_700_000_000.1, request_time: 1 })
    const { code, err } = await runCli(['audit', '-', ...interval, '--duration-field', orders], log)
    expect(code).toBe(2)
    expect(err).toBe(`hostpace: stdin:1:1: has no '${escapedOrders}'\n`)
  })

  test('in text, and in JSON that says the same', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hostpace-cli-'))
    const path = join(folder, `${orders.replace('/', '')}.log`)
    await writeFile(path, line(0))
    const { out } = await runCli(['audit', path, ...interval])
    expect(out).toContain(`${escapedOrders}.log: 1 request`)
    expect(out).toMatch(/^[ -~\n]*$/)
    const json = await runCli(['audit', path, ...interval, '--json'])
    expect(json.out).toMatch(/^[ -~]*\n$/)
    expect(JSON.parse(json.out).log).toBe(path)
    await rm(folder, { recursive: true })
  })

  test('in the name of a host', async () => {
    const log = '{"time":"2026-12-03T05:00:00.000Z","host":"\\u001b[31mevil\\u001b[0m\\nThe policy was honoured."}'
    const { out } = await runCli(['audit', '-', ...interval], log)
    expect(out).toMatch(/^[ -~\n]*$/)
    expect(out.match(/^The policy was honoured\.$/gm)).toHaveLength(1)
  })
})

describe('what is looked at', () => {
  const mixed = line(0) + line(0, '2001:db8::7') + line(0, '192.0.2.9', 'other') + line(1, '2001:0DB8::0007')
  test.each([
    [['--client', '192.0.2.7'], 1],
    [['--client', '192.0.2.0/24'], 2],
    [['--client', '2001:db8:0::7'], 2],
    [['--client', '2001:db8::/32'], 2],
    [['--user-agent', 'MyBot'], 3],
  ])('%j', async (args, requests) => {
    expect((await audit(mixed, '--policy', '{"rate":100}', ...args)).report.requests).toBe(requests)
  })

  const named = '{"time":1700000000,"host":"a.example","remote_addr":"192.0.2.1","user_agent":"mybot"}\n'
  test.each([
    [named, ['--host', 'https://A.example:443/x'], undefined],
    [named, ['--user-agent', 'nobody'], "stdin: has no request for --user-agent 'nobody' among 1\n"],
    [named, ['--host', 'b.example'], "stdin: has no request for --host 'b.example' among 1\n"],
    [line(0), ['--host', 'b.example'], "for --host 'b.example' among 1; it has no host\n"],
    [
      '{"time":1700000000,"host":"a.example"}\n{"time":1700000009,"host":"a.example"}\n',
      ['--host', 'a.example', '--client', '192.0.2.1', '--user-agent', 'x'],
      "for --host 'a.example' and --client '192.0.2.1' and --user-agent 'x' among 2; it has no client; it has no user-agent\n",
    ],
    [named, ['--host', '/a'], "--host must be a host such as a.example:8080 or its URL, got '/a'"],
  ])('why nothing is left: %j %j', async (log, args, message) => {
    const { code, err } = await runCli(['audit', '-', ...interval, ...args], log)
    expect(code).toBe(message === undefined ? 0 : 2)
    expect(err).toContain(message ?? '')
  })

  test('a path is no host', async () => {
    const paths = ['/a', '/b', '/c'].map((url) => JSON.stringify({ time: 1_796_274_001, method: 'GET', url }))
    const { code, report } = await audit(paths.join('\n'), ...interval)
    expect(code).toBe(1)
    expect(report.hosts).toMatchObject([{ host: '', requests: 3, violations: 2 }])
  })

  test('the machine that a logger runs on is no target', async () => {
    const log = [0, 1].map((second) =>
      JSON.stringify({
        level: 30,
        time: 1_700_000_000_001 + second,
        hostname: 'vm',
        url: `https://${second}.example/`,
      }),
    )
    const { code, report } = await audit(log.join('\n'), ...interval)
    expect(code).toBe(0)
    expect(report.hosts).toMatchObject([{ host: '0.example' }, { host: '1.example' }])
    const pino = ['q.example', 'r.example'].map((host) =>
      JSON.stringify({ time: 1_700_000_000_001, hostname: 'vm', req: { url: '/a', headers: { host } } }),
    )
    const ofPino = await audit(pino.join('\n'), ...interval)
    expect(ofPino.code).toBe(0)
    expect(ofPino.report.hosts).toMatchObject([{ host: 'q.example' }, { host: 'r.example' }])
  })

  test.each(['bücher.example', 'BÜCHER.example:443', 'xn--bcher-kva.example'])(
    'a host of letters beyond ASCII is one host in either spelling: %s',
    async (host) => {
      const log = [host, 'xn--bcher-kva.example'].map((name) => JSON.stringify({ time: 1_700_000_000, host: name }))
      const { code, report } = await audit(
        log.join('\n'),
        '--policy',
        '{"hosts":{"https://bücher.example":{"intervalMs":2000}}}',
      )
      expect(code).toBe(1)
      expect(report.hosts).toMatchObject([{ host: 'xn--bcher-kva.example', requests: 2, violations: 1 }])
      expect((await audit(log.join('\n'), ...interval, '--host', host)).report.requests).toBe(2)
    },
  )

  test('each host is judged apart', async () => {
    const log = ['a.example', 'b.example', 'A.example.:443', 'https://b.example/x'].map((host, index) =>
      JSON.stringify({ time: `2026-10-10T12:00:0${index}.000Z`, host }),
    )
    const { code, report } = await audit(log.join('\n'), '--policy', '{"intervalMs":2000}')
    expect(code).toBe(0)
    expect(report.hosts.map(({ host, requests }: { host: string; requests: number }) => [host, requests])).toEqual([
      ['a.example', 2],
      ['b.example', 2],
    ])
    expect((await audit(log.join('\n'), ...interval, '--host', 'B.example')).report.requests).toBe(2)
  })
})

describe('a policy for each host', () => {
  const policies = JSON.stringify({
    rate: 1,
    capacity: 1,
    hosts: { 'https://slow.example': { intervalMs: 10_000 }, 'http://fast.example:8080': { rate: 100 } },
  })
  const visits = [
    ['slow.example', 0],
    ['fast.example:8080', 1],
    ['fast.example:8080', 1.02],
    ['slow.example', 5],
    ['other.example', 6],
    ['other.example', 7.5],
  ] as const
  const timeOf = (second: number) => new Date(Date.UTC(2026, 9, 10, 12) + second * 1000).toISOString()
  const entries = visits.map(([host, second]) => ({
    startedDateTime: timeOf(second),
    request: { url: `https://${host}/` },
  }))

  test.each([
    ['JSON lines', visits.map(([host, second]) => JSON.stringify({ time: timeOf(second), host })).join('\n')],
    ['HAR', JSON.stringify({ log: { entries } })],
    ['combined, with a host in front', visits.map(([host, second]) => `${host} ${line(Math.floor(second))}`).join('')],
  ])('each host in a log is held to its own, and others to the one for all: %s', async (_, log) => {
    const { code, report } = await audit(log, '--policy', policies)
    expect(code).toBe(1)
    expect(Object.fromEntries(report.hosts.map(({ host, ...verdict }: { host: string }) => [host, verdict]))).toEqual({
      'slow.example': expect.objectContaining({
        policy: { rate: 1, capacity: 1, intervalMs: 10_000 },
        violations: 1,
        shown: [expect.objectContaining({ lastLine: 4 })],
      }),
      'fast.example:8080': expect.objectContaining({ policy: { rate: 100 }, violations: 0 }),
      'other.example': expect.objectContaining({ policy: { rate: 1, capacity: 1 }, violations: 0 }),
    })
  })

  test('a host of which it says nothing is not judged, and said so', async () => {
    const only = '{"hosts":{"https://fast.example:8080":{"rate":100}}}'
    const log = visits.map(([host, second]) => JSON.stringify({ time: timeOf(second), host })).join('\n')
    const { code, out } = await runCli(['audit', '-', '--policy', only], log)
    expect(code).toBe(0)
    expect(out.match(/not judged: the policy says nothing of this host/g)).toHaveLength(2)
  })

  test.each([
    ['{"hosts":{"https://b.example":{"rate":1}}}', '--policy says nothing of the hosts in stdin: unnamed hosts'],
    ['{"hosts":{"https://a.example":{"concurrency":1}}}', 'nothing to go by'],
    ['{"hosts":{"https://a.example":{"rate":1},"http://a.example":{}}}', 'two policies for a.example'],
    ['{\n"hosts":{"https://a.example":{"rate":0}}}', '--policy:2:38: hosts["https://a.example"].rate must be'],
    ['{"hosts":{"a.example":{"rate":1}}}', '--policy:1:23: hosts["a.example"] is not an origin'],
    ['{"hosts":[]}', '--policy:1:10: options.hosts must be'],
    ['{"default":{"rate":1}}', '--policy:1:12: options.default is unknown'],
  ])('%s is refused', async (policy, message) => {
    const { code, err } = await runCli(['audit', '-', '--policy', policy], line(0))
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

test('a log that is out of order is put in order, as far as it is let', async () => {
  const log = line(4) + line(0) + line(2)
  expect((await audit(log, ...interval)).code).toBe(0)
  expect((await audit(log, ...interval, '--reorder', 'all')).code).toBe(0)
  const long = Array.from({ length: 3000 }, (_, index) => line(2 * index)).join('')
  const { code, err } = await runCli(['audit', '-', ...interval, '--reorder', '1m'], long + line(0))
  expect(code).toBe(2)
  expect(err).toMatch(/^hostpace: stdin:3001: is .* older than line 3000 .*--reorder/)
  expect((await audit(long + line(1), ...interval, '--reorder', 'all')).report.hosts[0].violations).toBe(2)
})

test('time zones count', async () => {
  const log =
    line(0) + line(2).replace('12:00:02 +0000', '14:00:02 +0200') + line(4).replace('12:00:04 +0000', '06:30:04 -0530')
  expect((await audit(log, ...interval)).report.hosts[0]).toMatchObject({ violations: 0, averagePerSecond: 0.5 })
})

test('gzip is unpacked, several members too, and broken gzip is an error', async () => {
  const packed = Buffer.concat([gzipSync(line(0)), gzipSync(line(1))])
  expect((await audit(packed, ...interval)).report).toMatchObject({ requests: 2, honoured: false })
  const { code, err } = await runCli(['audit', '-', ...interval], packed.subarray(0, 40))
  expect(code).toBe(2)
  expect(err).toContain('broken gzip')
})

test('nginx JSON: the request came request_time before msec', async () => {
  const log = '{"msec":1700000009.000,"request_time":9.000}\n{"msec":"1700000002.001","request_time":"0.001"}\n'
  const { code, report } = await audit(log, ...interval)
  expect(code).toBe(0)
  expect(report).toMatchObject({ format: 'jsonl', resolutionMs: 1 })
})

test('JSON lines with fields of their own', async () => {
  const log = '{"at":{"when":1700000000123},"to":"https://a.example/x","took":0.1,"who":"192.0.2.1","what":"bot"}\n'
  const fields = ['--time-field', 'at.when', '--host-field', 'to', '--duration-field', 'took', '--client-field', 'who']
  const { report } = await audit(
    log,
    ...interval,
    ...fields,
    '--agent-field',
    'what',
    '--user-agent',
    'BOT',
    '--client',
    '192.0.2.1',
  )
  expect(report.hosts[0]).toMatchObject({ host: 'a.example', firstAtMs: 1_700_000_000_023 })
})

describe('HAR', () => {
  const entry = (ms: number, url: string, more: object = {}) => ({
    startedDateTime: new Date(1_700_000_000_000 + ms).toISOString(),
    request: { url, headers: [{ name: 'User-Agent', value: 'mybot' }] },
    ...more,
  })
  const har = (...entries: object[]) => ({ log: { version: '1.2', pages: [{ startedDateTime: 'x' }], entries } })
  const two = har(
    entry(0, 'https://a.example/1'),
    entry(10, 'data:text/plain,x'),
    entry(20, 'https://a.example/2', { _fromCache: 'disk' }),
    entry(1999, 'https://a.example/3'),
  )

  test.each([
    ['on one line', JSON.stringify(two)],
    ['over many lines', JSON.stringify(two, null, 2)],
    ['with a byte-order mark', `\uFEFF${JSON.stringify(two)}\n\n`],
  ])('%s', async (_, text) => {
    const { code, report } = await audit(text, ...interval, '--user-agent', 'mybot')
    expect(code).toBe(1)
    expect(report).toMatchObject({ format: 'har', requests: 2, resolutionMs: 1 })
    expect(report.hosts[0].shown[0]).toMatchObject({ firstLine: 1, lastLine: 4, withinMs: 2000 })
  })

  test.each([
    ['{"log":{"entries":[{"a" 1}]}}', 'stdin:1:25: is no HAR: Unexpected 1'],
    ['{"log":{\n"é": 1, "entries":[}', 'stdin:2:20: is no HAR: Unexpected "}"'],
    ['{"log":{\n"é":@', 'stdin:2:5: is no HAR: Unexpected "@"'],
    ['{"log":{"entries":[', 'stdin:1: ends in the middle'],
    ['{"log":{"entries":[]}}', 'stdin: has no entries'],
    ['{"log":{\n"entries":[{"startedDateTime":"now"}]}}', 'stdin:2: entry 1 has no startedDateTime'],
  ])('broken: %s', async (text, message) => {
    const { code, err } = await runCli(['audit', '-', ...interval], text)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

describe('what cannot be read', () => {
  test.each([
    ['rubbish\n', 'stdin:1:1: has no date'],
    [`${line(0)}192.0.2.1 - - [31/Feb/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1\n`, 'stdin:2:15: has no date'],
    ['192.0.2.1 - - [10/Oct/2026:12:00:00 +0000] GET\n', 'stdin:1:44: has no request'],
    ['192.0.2.1 - - [10/Oct/2026:12:00:00 +0000] "GET / HTTP/1.1" ok\n', 'stdin:1:60: has no status'],
    ['{"time":"2026-10-10T12:00:00Z"}\n{"time":}\n', 'stdin:2:9: is no JSON'],
    ['{"time":"yesterday"}\n', 'stdin:1:1: has no time that can be read'],
    ['192.0.2.1 - - [10/Oct/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "x\n', 'stdin:1:67: has no referrer'],
    ['192.0.2.1 - - [10/Oct/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "x\n', 'stdin:1:71: has no user agent'],
    ['[10/Oct/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5\n', 'stdin:1:1: does not begin with a client'],
    ['{"msec":1700000000.1,"request_time":"x"}\n', "stdin:1:1: has a 'request_time' that is no number"],
    ['{"time":1700000000}\n[1]\n', 'stdin:2:1: is no JSON object'],
    ['', 'stdin: has no request to look at'],
  ])('%j', async (text, message) => {
    const { code, err } = await runCli(['audit', '-', ...interval], text)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  test('is left out and counted on demand', async () => {
    const { code, report } = await audit(`${line(0)}rubbish\n${line(2)}`, ...interval, '--skip-unreadable')
    expect(code).toBe(0)
    expect(report).toMatchObject({ requests: 2, unreadable: 1 })
  })

  test('entries of a HAR, too', async () => {
    const entry = { startedDateTime: '2026-10-10T12:00:00Z', request: { url: 'https://a.example/' } }
    const har = JSON.stringify({ log: { entries: [entry, { request: entry.request }, 'x'] } })
    const { code, report } = await audit(har, ...interval, '--skip-unreadable')
    expect(code).toBe(0)
    expect(report).toMatchObject({ requests: 1, unreadable: 2 })
    const { out } = await runCli(['audit', '-', ...interval, '--skip-unreadable'], har)
    expect(out).toContain('2 entries could not be read')
  })

  test.each([
    ['--time-field', "has no time that can be read in 'nope'"],
    ['--duration-field', "has no 'nope'"],
    ['--host-field', "stdin: has no 'nope' in any line, which --host-field names"],
    ['--client-field', "stdin: has no 'nope' in any line, which --client-field names"],
    ['--agent-field', "stdin: has no 'nope' in any line, which --agent-field names"],
  ])('a field that no line has: %s', async (option, message) => {
    const log = '{"time":1700000000,"host":"a.example"}\n'.repeat(2)
    const { code, err } = await runCli(['audit', '-', ...interval, option, 'nope'], log)
    expect(code).toBe(2)
    expect(err).toContain(message)
  })

  test('a field that some line has is none', async () => {
    const log = '{"time":1700000000}\n{"time":1700000009,"who":"192.0.2.1"}\n'
    expect((await audit(log, ...interval, '--client-field', 'who')).code).toBe(0)
  })

  test.each([
    ['combined', line(0)],
    ['har', '{"log":{"entries":[]}}'],
  ])('names of fields for a log that has none: %s', async (format, log) => {
    const { code, err } = await runCli(['audit', '-', ...interval, '--agent-field', 'agent'], log)
    expect(code).toBe(2)
    expect(err).toContain(`stdin: is read as ${format}, and --agent-field is for JSON lines`)
  })

  test.each([
    [['--policy', '{"rate":1}'], '--policy is given twice'],
    [['--show', '1', '--show', '2'], '--show is given twice'],
    [['--client', '1.2.3'], '--client'],
    [['--client', '1.2.3.4/33'], '--client'],
    [['--format', 'xml'], 'xml'],
    [['--tolerance', 'some'], '--tolerance'],
    [['--reorder', 'some'], '--reorder'],
    [['--show', '-1'], '--show'],
    [['--resolution', '0'], '--resolution'],
  ])('options: %j', async (args, message) => {
    const { code, err } = await runCli(['audit', '-', ...interval, ...args], line(0))
    expect(code).toBe(2)
    expect(err).toContain(message)
  })
})

describe('a file', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hostpace-cli-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('of several chunks, with lines across their edges', async () => {
    const path = join(folder, 'access.log')
    await writeFile(
      path,
      Array.from({ length: 20_000 }, (_, index) => line(2 * index).replace('\n', '\r\n')).join('') + line(39_999),
    )
    const { report } = await runJson(['audit', path, ...interval])
    expect(report).toMatchObject({ log: path, requests: 20_001 })
    expect(report.hosts[0].shown).toEqual([expect.objectContaining({ lastLine: 20_001 })])
  })
})
