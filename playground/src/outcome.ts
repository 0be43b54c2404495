import type { LayerName, Policy } from '@hostpace/core'
import type { NamedPolicy } from '../../packages/cli/src/read-policy.ts'
import { rulesOf } from '../../packages/cli/src/rules/rules-of.ts'
import { type Simulation, simulate } from '../../packages/cli/src/simulation.ts'

/** What a policy makes of some arrivals, and what the host has to say to it. */
export interface Outcome extends Simulation {
  readonly medianWaitMs: number
  /** How many requests waited, by the layer that they waited for. */
  readonly waitsByLayer: ReadonlyMap<LayerName, number>
  /** How many requests were too early or too many for what the host asks for. */
  readonly unwelcome: number
}

/** Every moment is known exactly, but an audit wants a span for each. */
const resolutionMs = 0.001

/** Plays arrivals through the library's limiter, and holds what leaves to what the host asks for. */
export function outcomeOf(named: NamedPolicy, arrivals: readonly number[], host: Policy, windowMs: number): Outcome {
  const simulation = simulate(named, arrivals, windowMs)
  const waits = simulation.departures.map(({ arriveMs, departMs }) => departMs - arriveMs)
  const waitsByLayer = new Map<LayerName, number>()
  for (const [index, { layer }] of simulation.departures.entries()) {
    if ((waits[index] as number) > 0) waitsByLayer.set(layer, (waitsByLayer.get(layer) ?? 0) + 1)
  }
  return { ...simulation, medianWaitMs: medianOf(waits), waitsByLayer, unwelcome: unwelcomeOf(simulation, host) }
}

function unwelcomeOf({ departures }: Simulation, host: Policy): number {
  const rules = rulesOf(host, resolutionMs, 0)
  return departures.filter(({ departMs }, index) => {
    const broken = rules.map((rule) => rule.take({ atMs: departMs, line: index + 1 }))
    return broken.some((span) => span !== undefined)
  }).length
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  return (lower + upper) / 2
}
