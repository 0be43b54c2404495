import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CliError } from '../../src/errors.ts'
import { linesOf } from '../../src/logs/lines.ts'
import type { LogEntry } from '../../src/logs/log-entry.ts'
import { type LogFormat, logFormats, readLogLines } from '../../src/logs/read-log.ts'

async function entriesOf(
  bytes: readonly Uint8Array[],
  format: LogFormat,
  skipUnreadable: boolean,
): Promise<LogEntry[]> {
  const chunks = (async function* () {
    yield* bytes
  })()
  const entries: LogEntry[] = []
  for await (const batch of readLogLines(linesOf(chunks, 'log'), 'log', { format, skipUnreadable }).entries)
    entries.push(...batch)
  return entries
}

/** Text that is likely to get somewhere. */
const almostLog = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '192.0.2.1',
          '2001:db8::1',
          ' - - ',
          'a.example:80 ',
          '[10/Oct/2026:13:55:36 +0000]',
          '[::1]',
          ' "GET / HTTP/1.1"',
        ],
        ...[
          ' 200 5',
          ' "-"',
          ' "a \\"b\\\\ \\x41"',
          '"',
          '\\',
          '[',
          ']',
          '\n',
          '\r\n',
          '\uFEFF',
          '{',
          '}',
          '"log":',
          '"entries":[',
        ],
        ...[
          '"time":',
          '"msec":',
          '1e999',
          '-1',
          '1700000000.5',
          '"2026-10-10T10:10:10.123+02:00"',
          ',',
          'null',
          '__proto__',
        ],
        ...[
          '{"startedDateTime":"2026-10-10T10:10:10Z","request":{"url":"https://a.example/"}}',
          '"request_time":',
          '"host":',
        ],
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => Buffer.from(parts.join('')))

const anyBytes = fc.oneof(almostLog, fc.uint8Array({ maxLength: 200 }))

test('any bytes are read, or refused with an error that is named', async () => {
  const property = fc.asyncProperty(
    fc.array(anyBytes, { maxLength: 4 }),
    fc.constantFrom(...logFormats),
    fc.boolean(),
    async (chunks, format, skipUnreadable) => {
      try {
        for (const { atMs, resolutionMs } of await entriesOf(chunks, format, skipUnreadable)) {
          expect(Number.isFinite(atMs) && resolutionMs > 0).toBe(true)
        }
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        expect(error.message).toMatch(/^log/)
      }
    },
  )
  await fc.assert(property, { numRuns: 3000 })
})

test('a log is the same wherever its chunks end', async () => {
  const text = '192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /é HTTP/1.1" 200 5 "-" "böt"\r\n'.repeat(5)
  const bytes = Buffer.from(text)
  const whole = await entriesOf([bytes], 'auto', false)
  expect(whole).toHaveLength(5)
  const property = fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 6 }), async (cuts) => {
    const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length]
    const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
    expect(await entriesOf(chunks, 'auto', false)).toEqual(whole)
  })
  await fc.assert(property)
})
