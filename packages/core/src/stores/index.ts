/** For those who write a store that processes share. */
export type { Limits } from '../limits.ts'
export { msPerRequest } from '../rate.ts'
export { HostState, type StateUnder } from './host-state.ts'
export type {
  LearnStep,
  LeaveStep,
  Ledger,
  LedgerAnswers,
  LedgerCall,
  LedgerReply,
  SpareSlot,
  SpentDeparture,
  Step,
  StepAnswer,
} from './ledger.ts'
export { MemoryLedger } from './memory-ledger.ts'
export {
  decodeSaved,
  encodeSaved,
  type HostNotice,
  type LedgerSlot,
  noNotice,
  noticeOverAtMs,
  type SavedHost,
  type Worker,
} from './saved-host.ts'
export { type SharedSettings, type SharedStoreOptions, sharedSettings } from './shared-options.ts'
export { SharedStore } from './shared-store.ts'
export type { Answer, HostView, Leave, Store } from './store.ts'
