import { collectGarbage } from './measure.ts'

/** Bytes of the heap and outside of it that are in use, garbage excluded. */
export function usedBytes(): number {
  // What is freed by finalizers goes in the second round.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
