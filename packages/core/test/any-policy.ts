import * as fc from 'fast-check'
import type { Policy } from '../src/index.ts'

const quota = fc.record({
  limit: fc.integer({ min: 3, max: 12 }),
  windowMs: fc.constantFrom(100, 250, 1000, 3000),
  window: fc.constantFrom('sliding' as const, 'counter' as const, 'fixed' as const),
})

/** Any mix of the five rules. */
export const anyPolicy: fc.Arbitrary<Policy> = fc
  .record(
    {
      intervalMs: fc.constantFrom(10, 70, 250, 1000),
      burst: fc.record({
        rate: fc.constantFrom('3r/s', '7r/s', '10r/s', '90r/m', 20),
        capacity: fc.constantFrom(3, 5, 8),
        justification: fc.constant('a test'),
      }),
      quotas: fc.array(quota, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  .filter((parts) => Object.keys(parts).length > 0)
  .map(({ burst, ...rest }) => ({ ...burst, ...rest }) as Policy)
