import { setTimeout as sleep } from 'node:timers/promises'
import { getAll, graceMs, links, type Situation } from '../situation.ts'

const [limit, windowMs] = [20, 1000]

/** One request, then a rush of forty shortly before the second is over that began with the first. */
export const windowEdge: Situation = {
  name: 'a rush at the edge of a window',
  rule: `${limit} in any second at most`,
  hosts: () => [{ limits: { limit, windowMs } }],
  async play(client, [origin]) {
    await client.get(`${origin}/first`)
    await sleep(900)
    await getAll(client, origin, links(40))
  },
  judge({ visits }) {
    const times = visits.map(({ atMs }) => atMs)
    const within = times.map((start) => times.filter((at) => at >= start && at < start + windowMs - graceMs).length)
    const most = Math.max(...within)
    return { passed: visits.length === 41 && most <= limit, seen: `${most}` }
  },
}
