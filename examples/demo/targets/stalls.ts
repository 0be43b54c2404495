/** A span in which a process should have run and did not, in milliseconds since 1970. */
export interface Stall {
  fromMs: number
  toMs: number
}

/** Shorter ones are what every timer does. */
const shortestMs = 3

/** What was held up by a stall is dealt with this long after it at the latest. */
const aftermathMs = 2

/**
 * Looks at the clock every millisecond and remembers when it came too late for that: because the machine was
 * busy otherwise, or this process was. What arrives in such a span is stamped only after it.
 *
 * @returns a function that ends the watch and tells what it saw
 */
export function watchStalls(): () => Stall[] {
  const stalls: Stall[] = []
  let fromMs = wallMs()
  const timer = setInterval(() => {
    const toMs = wallMs()
    if (toMs - fromMs > shortestMs) stalls.push({ fromMs, toMs })
    fromMs = toMs
  }, 1)
  return () => {
    clearInterval(timer)
    return stalls
  }
}

/** How many milliseconds before its stamp a request may have arrived. */
export function latenessOf(stampMs: number, stalls: readonly Stall[]): number {
  const stall = stalls.find(({ fromMs, toMs }) => fromMs < stampMs && stampMs <= toMs + aftermathMs)
  return stall === undefined ? 0 : Math.ceil(stampMs - stall.fromMs)
}

/** The wall clock with a fraction, steady even if somebody sets it meanwhile. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now()
}
