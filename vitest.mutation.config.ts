import { mergeConfig } from 'vitest/config'
import config from './vitest.config.ts'

/** The tests that mutants of the layers and the limiter have to fail: those of the rules, not the whole of the property runs. */
export default mergeConfig(config, { test: { include: ['packages/core/test/**/*.test.ts'], reporters: ['dot'] } })
