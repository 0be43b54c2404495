import type { LayerName } from './layers/layer.ts'
import type { Limits } from './limits.ts'
import type { Peek } from './pacer.ts'
import type { Policy } from './policy.ts'
import type { PolicySource } from './policy-book.ts'
import type { HostView } from './stores/store.ts'

/** One layer of a host, as it stands. */
export interface LayerExplanation {
  readonly layer: LayerName
  /** The rule, e.g. `TokenBucket`. */
  readonly rule: string
  /** Its parameters, in the units that their names say. */
  readonly parameters: Readonly<Record<string, number>>
  /** Where it came from. */
  readonly source: PolicySource
  /** How many requests it might let go now. */
  readonly credit: number
}

/** Why a host is paced as it is. `String()` makes text of it. */
export interface Explanation {
  readonly key: string
  readonly policy: Policy
  readonly layers: readonly LayerExplanation[]
  /** Why a large burst is right for this host, if somebody said so. */
  readonly justification: string | undefined
  /** The hold on the host, if there is one. */
  readonly pause: { readonly leftMs: number; readonly reason: string } | undefined
  /** Milliseconds until a request that is made now would leave, behind all who wait. */
  readonly waitMs: number
  /** Which layer asks for that wait. */
  readonly layer: LayerName
  readonly queued: number
  readonly inFlight: number
  toString(): string
}

/** Explains a host from what its pacer and its store know. */
export function explain(
  key: string,
  { policy, stack }: Limits,
  view: HostView,
  next: Peek,
  reason: string,
  sourceOf: (field: keyof Policy) => PolicySource,
): Explanation {
  const parts: Omit<Explanation, 'toString'> = {
    key,
    policy,
    layers: stack.layers.map((layer, index) => ({
      layer: layer.name,
      rule: layer.constructor.name,
      parameters: layer.describe(),
      source: sourceOf(fieldOf[layer.name] ?? 'intervalMs'),
      credit: view.credits[index] as number,
    })),
    justification: policy.justification,
    pause: view.pausedMs > 0 ? { leftMs: view.pausedMs, reason } : undefined,
    ...next,
  }
  return Object.defineProperty(parts, 'toString', { value: () => textOf(parts) })
}

/** Which field of a policy a layer is made of. */
const fieldOf: Partial<Record<LayerName, keyof Policy>> = { interval: 'intervalMs', burst: 'rate', quota: 'quotas' }

function textOf({
  key,
  layers,
  justification,
  pause,
  waitMs,
  layer,
  queued,
  inFlight,
}: Omit<Explanation, 'toString'>): string {
  const next = waitMs === 0 ? 'now' : `in ${rounded(waitMs)} ms (${layer})`
  return [
    `${key}: next departure ${next}; ${queued} waiting, ${inFlight} in flight`,
    ...layers.map(lineOf),
    ...(justification === undefined ? [] : [`  burst justified: ${justification}`]),
    ...(pause === undefined ? [] : [`  held for ${rounded(pause.leftMs)} ms: ${pause.reason}`]),
  ].join('\n')
}

function lineOf({ layer, rule, parameters, source, credit }: LayerExplanation): string {
  const values = Object.entries(parameters).map(([name, value]) => `${name} ${rounded(value)}`)
  return `  ${layer}: ${rule}, ${values.join(', ')}; from ${source}; credit ${rounded(credit)}`
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
