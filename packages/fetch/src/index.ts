export { type AnyFetch, type PacedFetch, pace } from './pace.ts'
