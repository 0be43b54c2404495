import { median } from './statistics.ts'

/** Something to be compared with others. */
export interface Contender {
  readonly name: string
  /** Which share of the times it is done, for something very slow. @default 1 */
  readonly share?: number
  /** Does it `times` times. */
  run(times: number): void | Promise<void>
}

/** What one of it costs. */
export interface Cost {
  readonly name: string
  /** Nanoseconds of processor time, all threads of the process together. */
  readonly ns: number
  /** Bytes of heap that are allocated, and soon garbage. */
  readonly bytes: number
}

/**
 * The costs of all contenders, measured in turns, so that a slow moment of the machine hits all of them.
 *
 * Processor time rather than wall time: on a machine that others use as well, it is what stays the same. The
 * process needs `--expose-gc` and a young generation that holds what `times` of it allocate.
 */
export async function measure(contenders: readonly Contender[], times: number, rounds = 15): Promise<Cost[]> {
  const samples = contenders.map(() => [] as number[])
  for (let round = -2; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const ns = await timeOnce(contender, Math.ceil(times * (contender.share ?? 1)))
      if (round >= 0) samples[index]?.push(ns)
    }
  }
  const costs: Cost[] = []
  for (const [index, contender] of contenders.entries()) {
    const { name } = contender
    costs.push({
      name,
      ns: median(samples[index] ?? []),
      bytes: await bytesOnce(contender, Math.ceil((times * (contender.share ?? 1)) / 10)),
    })
  }
  return costs
}

async function timeOnce(contender: Contender, times: number): Promise<number> {
  const before = process.cpuUsage()
  await contender.run(times)
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1000) / times
}

async function bytesOnce(contender: Contender, times: number): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < 5; round++) {
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await contender.run(times)
    samples.push((process.memoryUsage().heapUsed - before) / times)
  }
  return Math.max(0, median(samples))
}

/** Frees whatever can be freed now. */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  globalThis.gc()
}
