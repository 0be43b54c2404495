import { forgottenAtMs, type Learned } from '../learning/learned.ts'
import type { Slot } from '../slot.ts'

/** A slot as a ledger keeps it. */
export interface LedgerSlot extends Slot {
  readonly name: string
  readonly worker: string
}

/** A process that shares a host, as a ledger knows it. */
export interface Worker {
  readonly name: string
  readonly aliveUntilMs: number
  readonly inFlight: number
  /** The number of the state that it was told last. */
  readonly seq: number
}

/** What a ledger keeps of one host under one policy. */
export interface SavedHost {
  /** The state of each layer, as `LayerStack.save` gives it. */
  readonly cells: readonly (readonly number[])[]
  readonly slots: readonly LedgerSlot[]
  readonly workers: readonly Worker[]
  readonly pausedUntilMs: number
  /** The last departure that was charged. */
  readonly chargedMs: number
  /** The latest moment seen: time never goes back. */
  readonly latestMs: number
  /** Which version of the pauses and of what was learned this state has taken in. */
  readonly pauseVersion: number
  readonly learnedVersion: number
  /** It grows with every call. */
  readonly seq: number
  /** What was spent of late, and from when on: a worker that remembers a state from before may not know of it. */
  readonly spent: number
  readonly spentSinceMs: number
}

/** What a ledger keeps of a host whatever the policy: what the host itself has said. */
export interface HostNotice {
  pausedUntilMs: number
  pauseVersion: number
  learned: Learned | undefined
  learnedVersion: number
}

/** The notice of a host that has said nothing. */
export function noNotice(): HostNotice {
  return { pausedUntilMs: Number.NEGATIVE_INFINITY, pauseVersion: 0, learned: undefined, learnedVersion: 0 }
}

/** What `decodeSaved` reads: JSON, in which infinities stand as numbers too large for a double. */
export function encodeSaved(saved: SavedHost | HostNotice): string {
  const text = JSON.stringify(saved, (_, value) => (Math.abs(value) === Number.POSITIVE_INFINITY ? `${value}` : value))
  return text.replaceAll('"Infinity"', '1e999').replaceAll('"-Infinity"', '-1e999')
}

/** @throws {SyntaxError} if `text` is none that `encodeSaved` wrote */
export function decodeSaved<T extends SavedHost | HostNotice>(text: string): T {
  return JSON.parse(text)
}

/** When a notice says nothing any more. */
export function noticeOverAtMs({ pausedUntilMs, learned }: HostNotice): number {
  return Math.max(pausedUntilMs, learned === undefined ? Number.NEGATIVE_INFINITY : forgottenAtMs(learned))
}
