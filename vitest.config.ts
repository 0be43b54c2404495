import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(`./packages/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    // Tests run on the sources, so that a failure points at the line that was written.
    alias: [
      { find: '@hostpace/core/stores', replacement: source('core/src/stores/index.ts') },
      { find: '@hostpace/core/testing', replacement: source('core/src/testing/index.ts') },
      { find: /^@hostpace\/(\w+)$/, replacement: `${source('')}$1/src/index.ts` },
    ],
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts', 'playground/test/**/*.test.ts'],
    reporters: ['default', ['json', { outputFile: 'reports/tests.json' }]],
    testTimeout: 30_000,
    slowTestThreshold: 3000,
    // Those that run side by side wait most of their time.
    maxConcurrency: 10,
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      // The suites run in the tests of the packages that they are for.
      exclude: ['packages/core/src/testing/**'],
      reporter: ['text-summary', 'json-summary'],
      reportsDirectory: 'reports/coverage',
      thresholds: {
        lines: 95,
        'packages/core/src/layers/**': { lines: 100 },
        'packages/core/src/host-limiter.ts': { lines: 100 },
      },
    },
  },
})
