import { creditScenarios } from './store-credit-scenarios.ts'
import { holdScenarios } from './store-hold-scenarios.ts'
import type { StoreScenario } from './store-scenario.ts'
import { slotScenarios } from './store-slot-scenarios.ts'

/**
 * What every store must do, one that answers at once as well as one that answers later.
 *
 * It is bound to no test framework:
 *
 * ```ts
 * for (const { name, run } of storeScenarios) test(name, () => run(driver))
 * ```
 */
export const storeScenarios: readonly StoreScenario[] = [...creditScenarios, ...slotScenarios, ...holdScenarios]
