import { getAll, keptApart, links, type Situation } from '../situation.ts'

const intervalMs = 100

/** A page with forty links, all found at once, on a host with a Crawl-delay (a tenth of a second, to be quick about it). */
export const fortyLinks: Situation = {
  name: 'forty links under a Crawl-delay',
  rule: `gaps of ${intervalMs} ms`,
  hosts: () => [{ limits: { intervalMs } }],
  play: (client, [origin]) => getAll(client, origin, links(40)),
  judge: ({ visits }) => keptApart(visits, 40, intervalMs),
}
