import { abortScenarios } from './adapter-abort-scenarios.ts'
import { errorScenarios } from './adapter-error-scenarios.ts'
import { hopScenarios } from './adapter-hop-scenarios.ts'
import { optionScenarios } from './adapter-option-scenarios.ts'
import { responseScenarios } from './adapter-response-scenarios.ts'
import type { AdapterScenario } from './adapter-scenario.ts'
import { sharingScenarios } from './adapter-sharing-scenarios.ts'
import { timeoutScenarios } from './adapter-timeout-scenarios.ts'
import { uploadScenarios } from './adapter-upload-scenarios.ts'
import type { Transport } from './transport.ts'

/** What every adapter must do, against real servers on loopback and judged by what these see. */
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

/**
 * What every adapter must do over a transport: all of it over HTTP/1.1 in plain, and over each other one what that
 * could change, which is hops, redirects, retries, aborts, uploads, errors, answers and sharing.
 *
 * It is bound to no test framework:
 *
 * ```ts
 * for (const transport of driver.transports) {
 *   for (const { name, suits, run } of adapterScenariosOver(transport)) {
 *     test.runIf(suits(driver, transport))(`${name} over ${transport}`, () => run(driver, transport))
 *   }
 * }
 * ```
 */
export function adapterScenariosOver(transport: Transport): readonly AdapterScenario[] {
  return adapterScenarios.filter(({ isPlainOnly }) => !isPlainOnly || transport === 'HTTP/1.1')
}
