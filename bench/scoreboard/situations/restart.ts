import { setTimeout as sleep } from 'node:timers/promises'
import { getAll, links, type Situation } from '../situation.ts'

const limit = 10

/** Half of a daily quota is used, the program is started anew and asks for as much as the whole of it. */
export const restart: Situation = {
  name: 'restart, half of the daily quota used',
  rule: `${limit} sent that day`,
  needs: 'shared credit',
  processes: [1, 1],
  hosts: () => [{ limits: { limit, windowMs: 86_400_000 } }],
  // What is left over waits for tomorrow.
  play: (client, [origin], round) => Promise.race([getAll(client, origin, links(round === 0 ? 5 : 10)), sleep(1500)]),
  judge: ({ visits }) => ({ passed: visits.length === limit, seen: `${visits.length} sent` }),
}
