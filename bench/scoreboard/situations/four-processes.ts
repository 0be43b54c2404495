import { getAll, keptApart, links, type Situation } from '../situation.ts'

const intervalMs = 100
const [processes, each] = [4, 8]

/** Four processes with eight links each, all to one host. */
export const fourProcesses: Situation = {
  name: 'four processes, one host',
  rule: `gaps of ${intervalMs} ms`,
  needs: 'shared credit',
  processes: [processes],
  hosts: () => [{ limits: { intervalMs } }],
  play: (client, [origin]) => getAll(client, origin, links(each)),
  judge: ({ visits }) => keptApart(visits, processes * each, intervalMs),
}
