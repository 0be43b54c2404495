export type { AdapterDriver, AdapterNeed, DriverRequest, DriverResponse, PacedClient } from './adapter-driver.ts'
export type { AdapterScenario } from './adapter-scenario.ts'
export { adapterScenarios } from './adapter-suite.ts'
export { ManualClock, type ManualClockOptions } from './manual-clock.ts'
