import config from './vitest.config.ts'

/** The tests that mutants of the layers and the limiter have to fail. */
const include = [
  'packages/core/test/layers/**/*.test.ts',
  'packages/core/test/host-limiter.test.ts',
  'packages/core/test/limiter-departures.test.ts',
]

export default { ...config, test: { ...config.test, include, reporters: ['dot'] } }
