import { setTimeout as sleep } from 'node:timers/promises'
import type { Situation, Visit } from '../situation.ts'

const intervalMs = 100
const count = 40

/**
 * Forty requests at once, nine of ten of which are aborted by their signals while they wait. None of these may be
 * sent, and the four that stay must not wait for the places of those that are gone: that would take three seconds.
 */
export const aborted: Situation = {
  name: 'nine of ten aborted while they wait',
  rule: 'none of them sent, the rest within 0.8 s',
  hosts: () => [{ limits: { intervalMs } }],
  async play(client, [origin]) {
    const aborting = Array.from({ length: count }, (_, index) => (index % 10 === 0 ? undefined : new AbortController()))
    const requests = aborting.map((one) =>
      one === undefined ? client.get(`${origin}/stays`) : client.get(`${origin}/aborted`, { signal: one.signal }),
    )
    const done = Promise.allSettled(requests)
    await sleep(intervalMs / 2)
    for (const one of aborting) one?.abort()
    await done
  },
  judge({ visits }) {
    const stayed = visits.filter(({ path }) => path === '/stays')
    const sent = visits.length - stayed.length
    const tookMs = (stayed.at(-1) as Visit).atMs - (stayed[0] as Visit).atMs
    return {
      passed: sent === 0 && stayed.length === count / 10 && tookMs <= 800,
      seen: `${sent} sent, ${(tookMs / 1000).toFixed(1)} s`,
    }
  },
}
