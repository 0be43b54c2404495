import { getAll, graceMs, type Situation, type Visit } from '../situation.ts'

const intervalMs = 300

/** A page is asked for again five times and answered by the client's cache; then another page is asked for. */
export const cacheHits: Situation = {
  name: 'five cache hits before a request',
  rule: `it leaves within ${2 * intervalMs} ms`,
  caches: true,
  hosts: () => [{ limits: { intervalMs }, answer: () => ({ headers: { 'cache-control': 'max-age=60' } }) }],
  async play(client, [origin]) {
    await client.get(`${origin}/page`)
    await getAll(client, origin, [...Array(5).fill('/page'), '/other'])
  },
  judge({ visits }) {
    const [page, other] = [visits[0] as Visit, visits.at(-1) as Visit]
    const waitedMs = other.atMs - page.atMs
    return { passed: visits.length === 2 && waitedMs <= 2 * intervalMs + graceMs, seen: `${Math.round(waitedMs)} ms` }
  },
}
