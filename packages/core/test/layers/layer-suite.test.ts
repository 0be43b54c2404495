import { describe, test } from 'vitest'
import { FixedWindow, LeakyBucket, SlidingWindowCounter, SlidingWindowLog, TokenBucket } from '../../src/index.ts'
import { layerScenarios } from '../../src/testing/layer-suite.ts'

const drivers = {
  TokenBucket: { create: (options: object) => new TokenBucket({ rate: '2r/s', capacity: 1, ...options }) },
  LeakyBucket: { create: (options: object) => new LeakyBucket({ intervalMs: 500, ...options }) },
  SlidingWindowLog: { create: (options: object) => new SlidingWindowLog({ limit: 1, windowMs: 500, ...options }) },
  SlidingWindowCounter: {
    create: (options: object) => new SlidingWindowCounter({ limit: 1, windowMs: 500, ...options }),
  },
  FixedWindow: { create: (options: object) => new FixedWindow({ limit: 1, windowMs: 500, ...options }) },
}

describe.each(Object.entries(drivers))('%s', (_name, driver) => {
  for (const { name, run } of layerScenarios) test(name, () => run(driver))
})
