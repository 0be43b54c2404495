import { AdaptiveGap } from './layers/adaptive-gap.ts'
import type { LayerName } from './layers/layer.ts'
import { forgottenAtMs, type Learned } from './learning/learned.ts'
import type { RateLimitPolicy } from './learning/rate-limit.ts'
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
  readonly source: PolicySource | 'answers'
  /** How many requests it might let go now. */
  readonly credit: number
}

/** What was learned of a host. */
export interface LearnedExplanation {
  /** Milliseconds between two requests, and from what that was learned. */
  readonly gap: { readonly intervalMs: number; readonly reason: string } | undefined
  /** The limits that the host publishes, as they stand by what it last said. */
  readonly published: readonly RateLimitPolicy[]
  /** Milliseconds until all of it is forgotten, if no answer comes that confirms it. */
  readonly forgottenInMs: number
}

/** Why a host is paced as it is. `String()` makes text of it. */
export interface Explanation {
  readonly key: string
  readonly policy: Policy
  readonly layers: readonly LayerExplanation[]
  /** Why a large burst is right for this host, if somebody said so. */
  readonly justification: string | undefined
  /** What was learned from the host's answers, if anything was. */
  readonly learned: LearnedExplanation | undefined
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
  learned: Learned | undefined,
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
      rule: layer.rule,
      parameters: layer instanceof AdaptiveGap ? gapOf(layer, learned) : layer.describe(),
      source: isLearned(layer.name, learned) ? 'answers' : sourceOf(fieldOf[layer.name] ?? 'intervalMs'),
      credit: view.credits[index] as number,
    })),
    justification: policy.justification,
    learned: learned && explainLearned(learned, view.nowMs),
    pause: view.pausedMs > 0 ? { leftMs: view.pausedMs, reason } : undefined,
    ...next,
  }
  return Object.defineProperty(parts, 'toString', { value: () => textOf(parts) })
}

function gapOf(layer: AdaptiveGap, learned: Learned | undefined): { intervalMs: number } {
  return learned?.gap === undefined ? layer.describe() : { intervalMs: learned.gap.gapMs }
}

function isLearned(layer: LayerName, learned: Learned | undefined): boolean {
  return layer === 'published' || (layer === 'adaptive' && learned?.gap !== undefined)
}

function explainLearned(learned: Learned, nowMs: number): LearnedExplanation {
  const { gap, published = [] } = learned
  return {
    gap: gap && { intervalMs: gap.gapMs, reason: gap.reason },
    published: published.map(({ name, limit, remaining, resetAtMs, windowMs }) => ({
      ...(name !== undefined && { name }),
      ...(limit !== undefined && { limit }),
      ...(remaining !== undefined && { remaining }),
      ...(resetAtMs !== undefined && { resetMs: Math.max(0, resetAtMs - nowMs) }),
      ...(windowMs !== undefined && { windowMs }),
    })),
    forgottenInMs: Math.max(0, forgottenAtMs(learned) - nowMs),
  }
}

/** Which field of a policy a layer is made of. */
const fieldOf: Partial<Record<LayerName, keyof Policy>> = { interval: 'intervalMs', burst: 'rate', quota: 'quotas' }

function textOf({
  key,
  layers,
  justification,
  learned,
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
    ...(learned === undefined ? [] : learnedLines(learned)),
    ...(pause === undefined ? [] : [`  held for ${rounded(pause.leftMs)} ms: ${pause.reason}`]),
  ].join('\n')
}

function learnedLines({ gap, published, forgottenInMs }: LearnedExplanation): string[] {
  return [
    ...(gap === undefined ? [] : [`  learned: a gap of ${rounded(gap.intervalMs)} ms, from ${gap.reason}`]),
    ...published.map(({ name, limit = '?', remaining = '?', resetMs }) => {
      const reset = resetMs === undefined ? '' : `, reset in ${rounded(resetMs)} ms`
      return `  learned: ${name === undefined ? '' : `${name}: `}${remaining} of ${limit} left${reset}`
    }),
    `  learned: forgotten in ${rounded(forgottenInMs)} ms`,
  ]
}

function lineOf({ layer, rule, parameters, source, credit }: LayerExplanation): string {
  const values = Object.entries(parameters).map(([name, value]) => `, ${name} ${rounded(value)}`)
  return `  ${layer}: ${rule}${values.join('')}; from ${source}; credit ${rounded(credit)}`
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}
