export { instrument } from './instrument.ts'
export type { InstrumentOptions } from './instrument-options.ts'
