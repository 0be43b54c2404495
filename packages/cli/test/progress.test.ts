import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Progress } from '../src/progress.ts'
import { runCli } from './run-cli.ts'

afterEach(() => void vi.restoreAllMocks())

/** What is said, when so many bytes have been read at each of these times. */
function said(errIsTerminal: boolean, totalBytes: number | undefined, reads: readonly [ms: number, bytes: number][]) {
  const texts: string[] = []
  let nowMs = 0
  const io = { errIsTerminal, err: (text: string) => void texts.push(text) }
  const progress = new Progress(io, totalBytes, () => nowMs)
  for (const [ms, bytes] of reads) {
    nowMs = ms
    progress.tell(bytes)
  }
  progress.end()
  return texts
}

describe('progress', () => {
  test('is silent where it does not take long', () => {
    expect(said(true, 1e9, [[999, 5e8]])).toEqual([])
    expect(said(false, 1e9, [[4999, 5e8]])).toEqual([])
  })

  test('in a terminal is one line, written anew at most five times a second, and gone at the end', () => {
    const reads: [number, number][] = [
      [1000, 25e7],
      [1100, 26e7],
      [1200, 5e8],
    ]
    const start = '\r\x1b[K'
    expect(said(true, 1e9, reads)).toEqual([`${start}read 250 MB, 25 %`, `${start}read 500 MB, 50 %`, start])
  })

  test('elsewhere is a line each five seconds, without a share where the length is not known', () => {
    const reads: [number, number][] = [
      [5000, 1e6],
      [9000, 2e6],
      [10_000, 3e6],
    ]
    expect(said(false, undefined, reads)).toEqual(['read 1 MB\n', 'read 3 MB\n'])
  })
})

describe('a long file', () => {
  const log = '{"time":"2026-10-10T12:00:00.000Z"}\n'.repeat(40_000)

  test.each([
    ['plain', Buffer.from(log), /^read \d MB, \d+ %\n(?:read \d MB, \d+ %\n)*read 1 MB, 100 %\n$/],
    // The share is of what there is to read, and not of what it holds.
    ['gzip', gzipSync(log), /^read 0 MB, 100 %\n$/],
  ])('says how far it has come, beside what was asked for: %s', async (_, bytes, expected) => {
    const folder = await mkdtemp(join(tmpdir(), 'hostpace-cli-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'access.log')
    await writeFile(path, bytes)
    let nowMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => {
      nowMs += 6000
      return nowMs
    })
    const { code, out, err } = await runCli([
      'audit',
      path,
      '--policy',
      '{"rate":100,"quotas":[{"limit":1e5,"windowMs":1000}]}',
    ])
    expect(code).toBe(1)
    expect(out).toContain('40000 requests')
    expect(err).toMatch(expected)
  })
})
