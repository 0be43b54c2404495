import { showDuration } from '../durations.ts'
import { InputError } from '../errors.ts'
import type { LogEntry } from './log-entry.ts'

/** How many entries tell how fine the stamps of a log are. */
const sampleSize = 1000

/**
 * Puts the requests of a log in the order of their stamps, those of one stamp in the order of the log. Servers write a line
 * when they have answered, so a log may be out of order by as long as that took.
 *
 * @param withinMs how far a line may be behind those before it; so much of the log is kept
 * @throws {InputError} if one is farther behind
 */
export async function* inOrder(
  batches: AsyncIterable<readonly LogEntry[]>,
  file: string,
  withinMs: number,
): AsyncGenerator<readonly LogEntry[]> {
  let waiting: LogEntry[] = []
  let latest: LogEntry | undefined
  // What stays is looked at again later, so it is left alone until as much has come again.
  let enough = sampleSize
  for await (const batch of batches) {
    for (const entry of batch) {
      if (latest === undefined || entry.atMs > latest.atMs) latest = entry
      if (entry.atMs < latest.atMs - withinMs) throw tooFarBehind(entry, latest, file)
      waiting.push(entry)
    }
    if (latest === undefined || waiting.length < enough) continue
    const untilMs = latest.atMs - withinMs
    const ready = waiting.filter(({ atMs }) => atMs < untilMs)
    waiting = waiting.filter(({ atMs }) => atMs >= untilMs)
    enough = sampleSize + 2 * waiting.length
    yield ready.sort(byTime)
  }
  yield waiting.sort(byTime)
}

/** How fine the stamps of a log are, by the finest of its first thousand: a fraction may end in zeros and lose them. */
export async function sampleResolution(
  batches: AsyncIterable<readonly LogEntry[]>,
): Promise<{ resolutionMs: number; entries: AsyncIterable<readonly LogEntry[]> }> {
  const iterator = batches[Symbol.asyncIterator]()
  const sample: LogEntry[] = []
  while (sample.length < sampleSize) {
    const { done, value } = await iterator.next()
    if (done) break
    for (const entry of value) sample.push(entry)
  }
  const resolutionMs = sample.reduce((finest, entry) => Math.min(finest, entry.resolutionMs), 1000)
  return { resolutionMs, entries: again() }

  async function* again(): AsyncGenerator<readonly LogEntry[]> {
    yield sample
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
}

/** A sort keeps the order of equals. */
function byTime(a: LogEntry, b: LogEntry): number {
  return a.atMs - b.atMs
}

function tooFarBehind({ line, atMs }: LogEntry, latest: LogEntry, file: string): InputError {
  const behind = showDuration(Math.ceil((latest.atMs - atMs) / 1000) * 1000)
  const problem = `is ${behind} older than line ${latest.line} before it; sort the log, or give a longer --reorder`
  return new InputError({ file, line }, problem)
}
