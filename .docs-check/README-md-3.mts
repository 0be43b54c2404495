import { createPacer } from '@hostpace/core'

const pacer = createPacer({
  rate: '5r/s', // these fields apply to every host
  maxWaitMs: 60_000,
  hosts: {
    'https://api.github.com': { rate: '80r/m', quotas: [{ limit: 5000, windowMs: 3_600_000 }] },
    'https://slow.example': { intervalMs: 10_000, concurrency: 1 },
  },
})

console.log(String(await pacer.explain('https://api.github.com/repos')))
await pacer.close()
