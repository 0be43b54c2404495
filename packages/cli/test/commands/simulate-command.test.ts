import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCli, runJson } from '../run-cli.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostpace-cli-'))
})
afterAll(() => rm(folder, { recursive: true }))

const leaky = 'leaky={"intervalMs":2000}'
const tokens = 'tokens={"rate":"30r/m","capacity":40,"justification":"to compare"}'

describe('the forty-links problem', () => {
  test('one average, two days', async () => {
    const { code, report } = await runJson(['simulate', '--arrivals', '40@0', '--policy', leaky, '--policy', tokens])
    expect(code).toBe(0)
    const [one, other] = report.policies
    expect(one).toMatchObject({ name: 'leaky', refused: 0, spanMs: 78_000, smallestGapMs: 2000, averagePerSecond: 0.5 })
    expect(one.worstWindow).toEqual({ count: 1, windowMs: 1000, startMs: 0 })
    expect(one.departures[39]).toEqual({ arriveMs: 0, departMs: 78_000, layer: 'interval' })
    expect(other).toMatchObject({ name: 'tokens', spanMs: 0, smallestGapMs: 0, averagePerSecond: null })
    expect(other.worstWindow.count).toBe(40)
  })

  test('side by side in text, SVG and HTML', async () => {
    const [svg, html] = [join(folder, 'a.svg'), join(folder, 'a.html')]
    const { code, out } = await runCli([
      ...['simulate', '--arrivals', '40@0', '--policy', leaky, '--policy', tokens],
      ...['--svg', svg, '--html', html],
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/smallest gap +2 s +0 ms/)
    expect(out).toMatch(/worst 1 s +1 +40/)
    const picture = await readFile(svg, 'utf8')
    expect(picture.match(/<circle/g)).toHaveLength(80)
    const page = await readFile(html, 'utf8')
    expect(page).toContain(picture)
    expect(page).not.toMatch(/(?:src|href)=/)
    expect(page).toContain('{&quot;intervalMs&quot;:2000}')
  })
})

test('names are escaped in the picture', async () => {
  const path = join(folder, 'b.svg')
  await runCli(['simulate', '--arrivals', '1@0', '--policy', '<b>&x={"intervalMs":1}', '--svg', path])
  expect(await readFile(path, 'utf8')).toContain('&lt;b&gt;&amp;x')
})

test('names order nothing in text, picture and page', async () => {
  const [svg, html] = [join(folder, 'c.svg'), join(folder, 'c.html')]
  const policy = '\x1b]0;x\x07\x9b\u202e\n<i>={"intervalMs":1}'
  const { out } = await runCli(['simulate', '--arrivals', '1@0', '--policy', policy, '--svg', svg, '--html', html])
  const name = '\\u001b]0;x\\u0007\\u009b\\u202e\\u000a'
  expect(out.split('\n').filter((text) => text.includes(`${name}<i>`))).toHaveLength(2)
  for (const path of [svg, html]) {
    const written = await readFile(path, 'utf8')
    expect(written).toContain(`${name}&lt;i&gt;`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(written).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]|<i>/)
  }
})

describe('what policies are called', () => {
  const namesOf = async (...policies: string[]) => {
    const args = policies.flatMap((policy) => ['--policy', policy])
    const { report } = await runJson(['simulate', '--arrivals', '1@0', ...args])
    return report.policies.map(({ name }: { name: string }) => name)
  }

  test('what was given, the name of the file, or a number', async () => {
    const path = join(folder, 'slow.json')
    await writeFile(path, '{"intervalMs":2000}')
    expect(await namesOf(leaky, '{"intervalMs":1}', path, '{"intervalMs":2}')).toEqual([
      ...['leaky', 'policy 2', 'slow.json', 'policy 4'],
    ])
  })

  test('two of one name are refused', async () => {
    const { code, err } = await runCli(['simulate', '--arrivals', '1@0', '--policy', leaky, '--policy', leaky])
    expect(code).toBe(2)
    expect(err).toContain("two policies are called 'leaky'")
  })
})

describe('arrivals', () => {
  const arrivalsOf = async (arrivals: string, ...more: string[]) => {
    const { report } = await runJson(['simulate', '--arrivals', arrivals, '--policy', leaky, ...more])
    return report.arrivals as number[]
  }

  test('crowds come in the order of their times', async () => {
    expect(await arrivalsOf('2@5s,1@0,1@1.5s')).toEqual([0, 1500, 5000, 5000])
  })

  test('random ones are those of their seed, and as many as the rate says', async () => {
    const first = await arrivalsOf('poisson:5/s', '--span', '1000s', '--seed', '7')
    expect(await arrivalsOf('poisson:5/s', '--span', '1000s', '--seed', '7')).toEqual(first)
    expect(await arrivalsOf('poisson:5/s', '--span', '1000s', '--seed', '8')).not.toEqual(first)
    // Six standard deviations.
    expect(Math.abs(first.length - 5000)).toBeLessThan(6 * Math.sqrt(5000))
    expect(first.every((ms, index) => ms >= (first[index - 1] ?? 0) && ms < 1_000_000)).toBe(true)
  })

  test('of a file of times, and of a log', async () => {
    const [times, log] = [join(folder, 'times'), join(folder, 'log')]
    await writeFile(times, '2s\n\n500\n')
    expect(await arrivalsOf(times)).toEqual([500, 2000])
    await writeFile(log, '{"ts":1700000002.5}\n{"ts":1700000000}\n')
    expect(await arrivalsOf(log)).toEqual([0, 2500])
    await writeFile(times, '2026-10-10T12:00:02.5Z\n\n2026-10-10T14:00:00+02:00\n')
    expect(await arrivalsOf(times)).toEqual([0, 2500])
    await writeFile(times, '2026-10-10T12:00:02.5Z\nsoon\n')
    const { code, err } = await runCli(['simulate', '--arrivals', times, '--policy', leaky])
    expect(code).toBe(2)
    expect(err).toContain(`${times}:2:1: must be a date such as`)
    await writeFile(times, '\nsoon\n')
    expect((await runCli(['simulate', '--arrivals', times, '--policy', leaky])).err).toMatch(
      /: must have times .*'soon'/,
    )
  })

  test('a bare number is a rate per second', async () => {
    expect(await arrivalsOf('poisson:0.5')).toEqual(await arrivalsOf('poisson:30/m'))
  })
})

describe('requests that are refused', () => {
  test.each([
    ['onLimit', '{"intervalMs":1000,"onLimit":"reject"}', 9],
    ['maxWaitMs', '{"intervalMs":1000,"maxWaitMs":2000}', 7],
    ['maxQueue', '{"intervalMs":1000,"maxQueue":4}', 5],
  ])('by %s', async (_, policy, refused) => {
    const { report } = await runJson(['simulate', '--arrivals', '10@0', '--policy', policy])
    expect(report.policies[0].refused).toBe(refused)
  })
})

describe('bad usage is refused with code 2 and a message that names it', () => {
  test.each([
    [['--arrivals', '40@0'], "option '--policy"],
    [['--arrivals', '40@soon', '--policy', leaky], "'40@soon'"],
    [['--arrivals', 'poisson:often', '--policy', leaky], 'poisson:'],
    [['--arrivals', 'poisson:0', '--policy', leaky], 'poisson:'],
    [['--arrivals', '0@0', '--policy', leaky], 'at least'],
    [['--arrivals', '2000000@0', '--policy', leaky], 'more than 1000000'],
    [['--arrivals', '/none', '--policy', leaky], '/none'],
    [['--arrivals', '1@0', '--policy', '/none.json'], '/none.json'],
    [['--arrivals', '1@0', '--policy', '{"concurrency":2}'], 'nothing to go by'],
    [['--arrivals', '1@0', '--policy', leaky, '--seed', 'x'], '--seed'],
    [['--arrivals', '1@0', '--policy', leaky, '--window', '0'], '--window'],
    [['--arrivals', '1@0', '--policy', leaky, '--svg', '/none/a.svg'], '--svg'],
    [['--arrivals', '1@0', '--policy', leaky, '--svg', '-'], 'must name files'],
    [['--arrivals', '1@0', '--policy', leaky, '--html', '-'], 'must name files'],
    [['--arrivals', '1@0', '--policy', leaky, '--svg', '/none/a', '--html', '/none/b/../a'], 'must name two files'],
    [['--arrivals', '1@0', '--policy', leaky, '--seed', '1', '--seed', '2'], '--seed is given twice'],
    [['--arrivals', '1@0', '--policy', '[]'], '--policy:1:1: policy must be a plain object'],
    [['--arrivals', '1@0', '--policy', ' null'], '--policy:1:2: policy must be a plain object'],
    [['--arrivals', '1@0', '--policy', 'x="a"'], '--policy:1:1: policy must be a plain object'],
    [
      ['--arrivals', '1@0', '--policy', '{"rate":1,"hosts":{"https://a.example":{"rate":1}}}'],
      '--policy:1:19: policy.hosts is for several hosts: give the policy of one',
    ],
    [['--arrivals', '1@0', '--policy', leaky, '--nope'], '--nope'],
  ])('%j', async (args, message) => {
    const { code, out, err } = await runCli(['simulate', ...args])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(message)
  })

  test.each([
    ['{"intervalMs":2000,}', ":1:20: Unexpected '}'\n"],
    ['{"intervalMs" 2000}', ":1:15: Unexpected '2'\n"],
    ['{"intervalMs":', ':1:15: Unexpected end of input\n'],
    ['{"intervalMs":"2"}', ':1:15: policy.intervalMs must be'],
    ['{\n "quotas": [\n  {"limit":0,"windowMs":1}]}', ':3:12: policy.quotas[0].limit must be'],
    ['{"interval":2}', ':1:13: policy.interval is unknown'],
    ['[]', ':1:1: policy must be a plain object'],
  ])('the policy %s, with its place', async (text, message) => {
    const path = join(folder, 'policy.json')
    await writeFile(path, text)
    const { code, err } = await runCli(['simulate', '--arrivals', '1@0', '--policy', path])
    expect(code).toBe(2)
    expect(err).toContain(`${path}${message}`)
  })
})

test('help has examples', async () => {
  for (const command of ['simulate', 'audit', 'explain']) {
    const { code, out } = await runCli([command, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`hostpace ${command} `)
  }
})
