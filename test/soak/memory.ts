import { setTimeout as sleep } from 'node:timers/promises'

/** Lets the garbage collector take what is garbage, with what is freed only once it has: finalizers run in turns of their own. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    await sleep(20)
  }
}

/** Megabytes in use on the heap when all garbage is gone. */
export async function heapMb(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('This needs node --expose-gc')
  await collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}
