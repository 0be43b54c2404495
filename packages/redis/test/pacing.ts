import type { Pacer } from '@hostpace/core'

/** The host that the tests pace. */
export const host = 'https://a.example'

/** Sends so many requests one after another. @returns when each left, in milliseconds */
export async function send(pacer: Pacer, count: number, url = host): Promise<number[]> {
  const times: number[] = []
  for (let sent = 0; sent < count; sent++) {
    const permit = await pacer.wait(url)
    times.push(performance.now())
    permit.sent()
    permit.done()
  }
  return times
}

/** Sends until `isOver` says so. @returns when each left */
export async function sendUntil(pacer: Pacer, isOver: () => boolean | Promise<boolean>): Promise<number[]> {
  const times: number[] = []
  while (!(await isOver())) times.push(...(await send(pacer, 1)))
  return times
}

/** The shortest time from one to the next, of all together. */
export function shortestGap(times: readonly number[]): number {
  const inOrder = [...times].sort((a, b) => a - b)
  return Math.min(...inOrder.slice(1).map((time, index) => time - (inOrder[index] as number)))
}

/** The most of them in any window of this length, of all together. */
export function mostIn(windowMs: number, times: readonly number[]): number {
  const inOrder = [...times].sort((a, b) => a - b)
  return Math.max(...inOrder.map((start) => inOrder.filter((time) => time >= start && time < start + windowMs).length))
}

/** Counts the episodes in which the store of a pacer failed. */
export function episodesOf(pacer: Pacer): { count: number } {
  const episodes = { count: 0 }
  pacer.on('store-error', () => {
    episodes.count++
  })
  return episodes
}
