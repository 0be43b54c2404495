import { getAll, keptApart, links, type Situation } from '../situation.ts'

const slowMs = 200

/** Six links to a fast host, which redirects them all to a slow one. */
export const redirect: Situation = {
  name: 'redirects to another host',
  rule: `there, gaps of ${slowMs} ms`,
  hosts: () => [
    {
      limits: { intervalMs: 20 },
      answer: ({ path, origins }) => ({ status: 302, headers: { location: `${origins[1]}${path}` } }),
    },
    { limits: { intervalMs: slowMs } },
  ],
  play: (client, [fast]) => getAll(client, fast, links(6)),
  judge({ visits }) {
    const there = visits.filter(({ host }) => host === 1)
    return keptApart(there, 6, slowMs)
  },
}
