import { createPacer, policyFor } from '@hostpace/core'

const registry = new Map([
  ['https://a.example', { crawlDelayFloorSeconds: 1, rulesCrawlDelaySeconds: 2, maxRequestsPerMinute: 60 }],
])

const pacer = createPacer({
  policyFor: async (origin) => {
    const entry = registry.get(origin)
    return entry && policyFor(entry)
  },
})
console.log(String(await pacer.explain('https://a.example/')))
await pacer.close()
