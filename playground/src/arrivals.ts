import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export type Pattern = 'once' | 'steady' | 'poisson' | 'bursts'

/** When requests are asked for. What a pattern has no use for is not looked at. */
export interface Arrivals {
  readonly pattern: Pattern
  /** How many requests there are. */
  readonly count: number
  /** How many come per second: exactly (`steady`), or on average (`poisson`). */
  readonly perSecond: number
  /** What random numbers start from, a whole number. */
  readonly seed: number
  /** How many come at once in `bursts`. */
  readonly burst: number
  /** From one of the `bursts` to the next, in milliseconds. */
  readonly everyMs: number
}

/** @returns milliseconds from the start, in order */
export function arrivalTimes(arrivals: Arrivals): number[] {
  const { pattern, count, perSecond, burst, everyMs } = arrivals
  if (pattern === 'poisson') return poisson(arrivals)
  const timeOf = {
    once: () => 0,
    steady: (index: number) => (index * 1000) / perSecond,
    bursts: (index: number) => Math.floor(index / burst) * everyMs,
  }[pattern]
  return Array.from({ length: count }, (_, index) => timeOf(index))
}

/** Independent arrivals: the gaps are exponentially distributed. The same seed gives the same as `hostpace simulate`. */
function poisson({ count, perSecond, seed }: Arrivals): number[] {
  const generator = xoroshiro128plus(seed)
  let atMs = 0
  return Array.from({ length: count }, () => {
    // The logarithm of 0 is no time.
    atMs -= (Math.log(1 - uniformFloat64(generator)) * 1000) / perSecond
    return atMs
  })
}
