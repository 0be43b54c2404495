/** A generator of numbers in [0, 1) that gives the same ones in every run (mulberry32). */
function seededRandom(seed = 1): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Host numbers of requests that meet every host equally often. */
export function uniform(requests: number, hosts: number): number[] {
  const random = seededRandom()
  return Array.from({ length: requests }, () => Math.floor(random() * hosts))
}

/** Host numbers of requests that meet the n-th host 1/n times as often as the first. */
export function zipf(requests: number, hosts: number): number[] {
  const random = seededRandom()
  const upTo = new Float64Array(hosts)
  let sum = 0
  for (let host = 0; host < hosts; host++) {
    sum += 1 / (host + 1)
    upTo[host] = sum
  }
  return Array.from({ length: requests }, () => firstAbove(upTo, random() * sum))
}

/** A URL of its own for each request. */
export function manyHosts(hostNumbers: readonly number[]): string[] {
  return hostNumbers.map((host, request) => `https://www.site-${host}.example/articles/${request}`)
}

function firstAbove(values: Float64Array, limit: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) > limit) high = middle
    else low = middle + 1
  }
  return low
}
