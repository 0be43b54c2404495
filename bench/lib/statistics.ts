/** The value below which a share `q` of the values lies. */
export function quantile(values: Iterable<number>, q: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export function median(values: Iterable<number>): number {
  return quantile(values, 0.5)
}
