import { getAll, links, type Situation, type Visit } from '../situation.ts'

const count = 6

/** A program whose last request has to wait, and that has nothing else to do: that wait must not be cut off, nor the end be delayed. */
export const processExit: Situation = {
  name: 'the end of a program',
  rule: 'all sent, then gone within 0.7 s',
  endsByItself: true,
  hosts: () => [{ limits: { limit: count - 1, windowMs: 2000 } }],
  play: (client, [origin]) => getAll(client, origin, links(count)),
  judge({ visits, endedMs }) {
    const laterMs = endedMs - (visits.at(-1) as Visit).atMs
    const lost = count - visits.length
    return {
      passed: lost === 0 && laterMs <= 700,
      seen: lost === 0 ? `${(laterMs / 1000).toFixed(1)} s` : `${lost} lost`,
    }
  },
}
