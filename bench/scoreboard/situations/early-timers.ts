import { getAll, links, type Situation, type Visit } from '../situation.ts'

const perSecond = 150
const count = 150

/**
 * 150 a second is one per 6.67 ms, and Node's timers cut the fraction off: whoever trusts one is early each time. Judged
 * by the time that all of them took, which a machine that holds things up can only lengthen, but for the ends.
 */
export const earlyTimers: Situation = {
  name: 'timers that fire early',
  rule: `${perSecond} a second at most`,
  alone: true,
  hosts: () => [{ limits: { intervalMs: 1000 / perSecond } }],
  play: (client, [origin]) => getAll(client, origin, links(count)),
  judge({ visits }) {
    // The first one opens the connection.
    const [first, last] = [visits[1] as Visit, visits.at(-1) as Visit]
    const rate = ((visits.length - 2) * 1000) / (last.atMs - first.atMs)
    return { passed: visits.length === count && rate <= perSecond * 1.02, seen: `${Math.round(rate)}` }
  },
}
