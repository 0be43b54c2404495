import { type Limits, msPerRequest } from '@hostpace/core/stores'

/** How the script calls the three ways to count a quota. */
export type QuotaRule = 'log' | 'counter' | 'fixed'

const quotaRules = { sliding: 'log', counter: 'counter', fixed: 'fixed' } as const
const lists = new WeakMap<Limits, string>()

/** The rules of the quotas of a policy, in their order. */
export function quotasOf({ policy: { quotas = [] } }: Limits): QuotaRule[] {
  return quotas.map(({ window = 'sliding' }) => quotaRules[window])
}

/** The layers of a policy and its bound of requests in flight, as the script takes them. */
export function layerListOf(limits: Limits): { layers: readonly object[]; concurrency: number | undefined } {
  const quotas = quotasOf(limits)[Symbol.iterator]()
  const layers = limits.stack.layers.map((layer) => {
    const { name } = layer
    const { intervalMs, capacity, limit, windowMs } = layer.describe()
    if (name === 'interval') return { rule: 'interval', name, intervalMs }
    if (name === 'burst') return { rule: 'bucket', name, capacity, msPerToken: msPerRequest(limits.policy.rate ?? 0) }
    if (name === 'quota') return { rule: quotas.next().value, name, limit, windowMs }
    return name === 'adaptive' ? { rule: 'adaptive', name, startMs: intervalMs } : { rule: 'published', name }
  })
  return { layers, concurrency: limits.policy.concurrency }
}

/** The same as JSON; it is made once per policy. */
export function layerListJson(limits: Limits): string {
  const known = lists.get(limits)
  if (known !== undefined) return known
  const json = JSON.stringify(layerListOf(limits))
  lists.set(limits, json)
  return json
}
