import { getAll, type Host, links, type Situation } from '../situation.ts'

const holdMs = 1000
const count = 10

/** A host that refuses the third request with `Retry-After: 1`, and all that come before that second is over. */
function refusingHost(): Host {
  let seen = 0
  let heldUntilMs = 0
  return {
    limits: { intervalMs: 50 },
    answer({ atMs }) {
      seen++
      if (seen === 3) heldUntilMs = atMs + holdMs
      return atMs < heldUntilMs ? { status: 429, headers: { 'retry-after': '1' } } : {}
    },
  }
}

/** Ten requests, of which the third is refused; one more may have been on its way then. */
export const retryAfter: Situation = {
  name: '429 with `Retry-After`',
  rule: 'all answered, 2 refused at most',
  retries: true,
  hosts: () => [refusingHost()],
  play: (client, [origin]) => getAll(client, origin, links(count)),
  judge({ visits }) {
    const refused = visits.filter(({ status }) => status === 429).length
    const lost = count - (visits.length - refused)
    return {
      passed: lost === 0 && refused <= 2,
      seen: lost === 0 ? `${refused} refused` : `${refused} refused, ${lost} lost`,
    }
  },
}
