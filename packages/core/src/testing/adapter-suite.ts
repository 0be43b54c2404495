import { abortScenarios } from './adapter-abort-scenarios.ts'
import { errorScenarios } from './adapter-error-scenarios.ts'
import { hopScenarios } from './adapter-hop-scenarios.ts'
import { optionScenarios } from './adapter-option-scenarios.ts'
import { responseScenarios } from './adapter-response-scenarios.ts'
import type { AdapterScenario } from './adapter-scenario.ts'
import { sharingScenarios } from './adapter-sharing-scenarios.ts'
import { timeoutScenarios } from './adapter-timeout-scenarios.ts'
import { uploadScenarios } from './adapter-upload-scenarios.ts'

/**
 * What every adapter must do, against real servers on loopback and judged by what these see.
 *
 * It is bound to no test framework:
 *
 * ```ts
 * for (const { name, needs, run } of adapterScenarios) {
 *   test.skipIf(needs?.some((need) => driver.lacks?.has(need)))(name, () => run(driver))
 * }
 * ```
 */
export const adapterScenarios: readonly AdapterScenario[] = [
  ...hopScenarios,
  ...abortScenarios,
  ...timeoutScenarios,
  ...errorScenarios,
  ...responseScenarios,
  ...sharingScenarios,
  ...optionScenarios,
  ...uploadScenarios,
]
