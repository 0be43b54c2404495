import config from './vitest.config.ts'

/** The tests that mutants of the layers, of the limiter and of what is learned have to fail. */
const include = [
  'packages/core/test/layers/**/*.test.ts',
  'packages/core/test/host-limiter.test.ts',
  'packages/core/test/limiter-departures.test.ts',
  'packages/core/test/learning/*.test.ts',
  'packages/core/test/{adaptive,published,resources,cases-headers,pacer-pause}.test.ts',
]

export default { ...config, test: { ...config.test, include, reporters: ['dot'] } }
