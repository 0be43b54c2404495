import type { LayerName } from '../layers/layer.ts'
import type { Learned } from '../learning/learned.ts'
import type { Limits } from '../limits.ts'
import type { SavedHost } from './saved-host.ts'
import type { Answer } from './store.ts'

/**
 * Where several processes keep the credit of hosts together; a `SharedStore` stands on it.
 *
 * A call is one atomic step over the state of one host under one policy, on the ledger's own clock. `HostState` is
 * the reference for what a call does.
 */
export interface Ledger {
  /** Carries out all steps of a call, in their order, or none. */
  decide(call: LedgerCall): Answer<LedgerReply>

  /** Frees what the ledger holds in this process. */
  close(): void | Promise<void>
}

/** One call of a ledger: what one worker asks about one host. */
export interface LedgerCall {
  /** The host, mostly an origin. */
  readonly key: string
  /** With layers for what is learned. Those with one `creditName` share their credit. */
  readonly limits: Limits
  /** Who calls: a name that no other process has. */
  readonly worker: string
  /** How long the worker counts as alive after this call. */
  readonly leaseMs: number
  /** How far ahead slots may be promised to those who wait behind the one that asks. */
  readonly horizonMs: number
  /** Permits that the worker holds; the whole count, so that a call that gets lost mends itself. */
  readonly inFlight: number
  /** The number of the state that the worker has last seen; 0 if it knows of none that still says anything. */
  readonly seq: number
  /** Which version of what was learned the worker knows; 0 for none. */
  readonly learnedVersion: number
  /**
   * Where the state may have slots that the worker knows nothing of, as after a call that failed or `lost`: the worker's
   * slots but for these are struck out.
   */
  readonly keep?: readonly string[] | undefined
  /** After `lost`: what each layer had left when the worker last saw it. */
  readonly credits?: readonly number[] | undefined
  readonly steps: readonly Step[]
}

/** One thing that is asked of a ledger. Slots go by names that no two workers both give. */
export type Step =
  | LeaveStep
  | {
      readonly kind: 'reserve'
      readonly slot: string
      readonly cost: number
      readonly order: number
      readonly notBeforeMs: number
    }
  | { readonly kind: 'giveBack'; readonly slot: string }
  | { readonly kind: 'sent'; readonly slot: string; readonly cost: number; readonly agoMs: number }
  | { readonly kind: 'pause'; readonly forMs: number }
  | { readonly kind: 'resume' }
  | LearnStep
  | { readonly kind: 'spent'; readonly departures: readonly SpentDeparture[] }
  | { readonly kind: 'adopt'; readonly from: Limits }
  | { readonly kind: 'view' }

/** `leave` asks for a departure, `retry` for that of a slot, which is given back first. */
export interface LeaveStep {
  readonly kind: 'leave' | 'retry'
  readonly slot: string
  readonly cost: number
  readonly order: number
  /** How many requests of the same cost wait behind it: what can be promised to them within the horizon is promised, too. */
  readonly more: number
}

/** Takes in what was learned, in place of what was before. Its times count from now. */
export interface LearnStep {
  readonly kind: 'learn'
  readonly learned: Learned
}

/** A departure that the ledger could not be asked for. */
export interface SpentDeparture {
  readonly agoMs: number
  readonly cost: number
}

/** A slot that was promised beside the one that was asked for; its name is that of the first with `:1`, `:2`, ... */
export interface SpareSlot {
  readonly waitMs: number
  readonly layer: LayerName
}

/** What comes of a step; `undefined` for those that ask nothing. */
export type StepAnswer =
  | { readonly kind: 'gone'; readonly spares: readonly SpareSlot[] }
  | {
      readonly kind: 'promised'
      readonly waitMs: number
      readonly layer: LayerName
      readonly spares: readonly SpareSlot[]
    }
  | { readonly kind: 'full' }
  | { readonly kind: 'reserved'; readonly waitMs: number; readonly layer: LayerName }
  | { readonly kind: 'viewed'; readonly saved: SavedHost }
  | undefined

/** What a ledger says to a call. `lost`: the state is gone, or is from before what the worker knows; nothing has been done. */
export type LedgerReply = { readonly lost: true } | LedgerAnswers

/** What has come of a call. */
export interface LedgerAnswers {
  readonly lost?: false
  /** The number of the state: it grows with every call. */
  readonly seq: number
  /** Now, on the clock of the ledger. */
  readonly nowMs: number
  /** Milliseconds until the state says no more than that of a host never asked. */
  readonly expiresInMs: number
  /** How many workers are alive. */
  readonly workers: number
  /** How many requests each layer might let go now. */
  readonly credits: readonly number[]
  /** It changes with every pause and every end of one. */
  readonly pauseVersion: number
  readonly learnedVersion: number
  /** What was learned, if it is not what the worker knows. Its times count from now. */
  readonly learned?: Learned | undefined
  /** One per step. */
  readonly answers: readonly StepAnswer[]
}
