import { createPacer, type PacerOptions } from '@hostpace/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let warnings: string[] = []
const listen = (warning: Error & { code?: string }) => warnings.push(`${warning.code}: ${warning.message}`)

beforeEach(() => {
  warnings = []
  process.on('warning', listen)
})
afterEach(() => {
  process.off('warning', listen)
  vi.unstubAllGlobals()
})

const codes = async () => {
  await new Promise((resolve) => setImmediate(resolve))
  return warnings.map((warning) => warning.split(':')[0])
}
const burst = { rate: '10r/s', capacity: 11 } as const
const quotaOnly = { quotas: [{ limit: 5, windowMs: 60_000 }] }

test.each<[string, PacerOptions, string[]]>([
  ['a burst of more than a second', burst, ['HOSTPACE_BURST']],
  ['a burst of a second', { rate: '10r/s', capacity: 10 }, []],
  ['a slow rate whose burst is one', { rate: '10r/m', capacity: 1 }, []],
  ['a slow rate whose burst is two', { rate: '10r/m', capacity: 2 }, ['HOSTPACE_BURST']],
  ['a justified burst', { ...burst, justification: 'their documentation says so' }, []],
  ['a long quota alone', quotaOnly, ['HOSTPACE_QUOTA_ONLY']],
  ['a short quota alone', { quotas: [{ limit: 5, windowMs: 59_999 }] }, []],
  ['a long quota with a rate', { ...quotaOnly, rate: 1 }, []],
  ['a long quota with an interval', { ...quotaOnly, intervalMs: 100 }, []],
  ['a long quota of one host under the rate of all', { rate: 1, hosts: { 'https://a.example': quotaOnly } }, []],
  ['a long quota of one host', { hosts: { 'https://a.example': quotaOnly } }, ['HOSTPACE_QUOTA_ONLY']],
  ['a long quota of all under rates that are looked up', { ...quotaOnly, policyFor: () => ({ rate: 1 }) }, []],
  [
    'one policy for two hosts',
    { hosts: { 'https://a.example': burst, 'https://b.example': burst } },
    ['HOSTPACE_BURST'],
  ],
])('%s', async (_name, options, expected) => {
  createPacer(options)
  expect(await codes()).toEqual(expected)
})

test('a warning says what is wrong with which policy', async () => {
  createPacer({ hosts: { 'https://a.example': burst } })
  await codes()
  expect(warnings[0]).toContain('hosts["https://a.example"].capacity of 11')
})

test('a policy that is looked up for a thousand hosts warns once', async () => {
  const pacer = createPacer({ policyFor: () => ({ ...burst }) })
  for (let host = 0; host < 1000; host++) await pacer.wait(`https://h${host}.example/`)
  expect(await codes()).toEqual(['HOSTPACE_BURST'])
})

test('update warns once for each new policy', async () => {
  const pacer = createPacer({ rate: '10r/s' })
  await pacer.wait('https://a.example/')
  pacer.update('https://a.example/', burst)
  pacer.update('https://b.example/', burst)
  pacer.update('https://a.example/', { ...burst, capacity: 12 })
  await pacer.wait('https://a.example/')
  await pacer.wait('https://b.example/')
  expect(await codes()).toEqual(['HOSTPACE_BURST', 'HOSTPACE_BURST'])
})

test('where there is no process the console is told', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  vi.stubGlobal('process', undefined)
  createPacer(burst)
  vi.unstubAllGlobals()
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('HOSTPACE_BURST'))
  warn.mockRestore()
})
