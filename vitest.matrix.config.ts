import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.ts'

/** `HOSTPACE_CLIENT` is `name=path`: the client by this name is the one at this path. Set by `.ci/matrix.mjs`. */
const [client = '', path = ''] = (process.env.HOSTPACE_CLIENT ?? '').split('=')
if (path === '') throw new Error('HOSTPACE_CLIENT must be name=path')

const { reporters: _, ...test } = base.test ?? {}

export default mergeConfig(
  { ...base, test },
  defineConfig({
    resolve: { alias: [{ find: new RegExp(`^${client}$`), replacement: path }] },
    test: {
      reporters: [['json', { outputFile: process.env.HOSTPACE_REPORT ?? 'reports/matrix.json' }]],
      coverage: { enabled: false },
    },
  }),
)
