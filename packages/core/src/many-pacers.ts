import type { Pacer } from './pacer.ts'
import type { WaitOptions } from './pacer-options.ts'
import type { Permit } from './permit.ts'

const ranks = new WeakMap<Pacer, number>()
let lastRank = 0

/** For adapters: the same order everywhere, so that two requests never hold what the other one waits for. */
export function inOrder(pacers: readonly Pacer[]): Pacer[] {
  for (const pacer of pacers) if (!ranks.has(pacer)) ranks.set(pacer, ++lastRank)
  return [...pacers].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
}

/**
 * For adapters: waits until every pacer lets a request to `url` leave, one after the other.
 *
 * @returns the permit of each
 * @throws what a pacer rejects with; what the pacers before it had granted is given back
 */
export async function waitForAll(pacers: readonly Pacer[], url: string | URL, options: WaitOptions): Promise<Permit[]> {
  const permits: Permit[] = []
  try {
    for (const pacer of pacers) permits.push(await pacer.wait(url, options))
  } catch (error) {
    for (const permit of permits) permit.done()
    throw error
  }
  return permits
}
