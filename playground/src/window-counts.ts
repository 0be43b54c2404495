/** How many requests left within the window that ends at a moment; it holds until the next one. */
export interface WindowCount {
  readonly atMs: number
  readonly count: number
}

/** A trace of a sum of fractions, which decides nothing. */
const nanosecondMs = 1e-6

/**
 * How full a half-open window that slides over departures is, at each moment at which that may change. Who leaves exactly the
 * length of the window after another is not in it together with that one.
 *
 * @param times when requests left, in milliseconds, in order
 */
export function windowCounts(times: readonly number[], windowMs: number): WindowCount[] {
  const ends = times.map((time) => time + windowMs)
  const counts: WindowCount[] = []
  let [entered, left] = [0, 0]
  while (left < ends.length) {
    const atMs = Math.min(times[entered] ?? Number.POSITIVE_INFINITY, ends[left] as number)
    while ((ends[left] ?? Number.POSITIVE_INFINITY) <= atMs + nanosecondMs) left++
    while ((times[entered] ?? Number.POSITIVE_INFINITY) <= atMs + nanosecondMs) entered++
    counts.push({ atMs, count: entered - left })
  }
  return counts
}
