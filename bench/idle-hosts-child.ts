/** Asks many hosts once, one after another, and prints what each takes. Arguments: kind and count. */
import { createPacer, type Policy } from '@hostpace/core'
import Bottleneck from 'bottleneck'
import { RateLimiter } from 'limiter'
import pThrottle from 'p-throttle'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { usedBytes } from './lib/memory.ts'
import { declared } from './lib/policies.ts'

/** Bytes per host. */
export interface IdleHosts {
  readonly bytes: number
  /** What is left when the hosts have recovered and are forgotten. */
  readonly left?: number | undefined
  readonly remembered?: number | undefined
}

interface Keeper {
  ask(origin: string): unknown
  /** Forgets what may be forgotten. @returns how many hosts are remembered */
  forget?(): number
}

function hostpace(policy: Policy): Keeper {
  let laterMs = 0
  const pacer = createPacer({ ...policy, clock: { now: () => performance.now() + laterMs } })
  return {
    async ask(origin) {
      const permit = await pacer.wait(`${origin}/page`)
      permit.done({ status: 200 })
    },
    forget() {
      laterMs += 3 * 3_600_000
      pacer.sweep()
      return Object.keys(pacer.stats().hosts).length
    },
  }
}

/** A limiter of its own for each host. */
function oneEach<Limiter>(make: () => Limiter, ask: (limiter: Limiter) => unknown): Keeper {
  const limiters = new Map<string, Limiter>()
  return {
    ask(origin) {
      const limiter = make()
      limiters.set(origin, limiter)
      return ask(limiter)
    },
  }
}

const counter: Policy = { ...declared, quotas: [{ limit: 1000, windowMs: 3_600_000, window: 'counter' }] }
const points = new RateLimiterMemory({ points: 10, duration: 3600 })
const keepers: Record<string, () => Keeper> = {
  map: () => oneEach(() => performance.now(), Number),
  'hostpace-interval': () => hostpace({}),
  'hostpace-counter': () => hostpace(counter),
  'hostpace-log': () => hostpace(declared),
  limiter: () =>
    oneEach(
      () => new RateLimiter({ tokensPerInterval: 10, interval: 'second' }),
      (limiter) => limiter.tryRemoveTokens(1),
    ),
  flexible: () => ({ ask: (origin) => points.consume(origin) }),
  'p-throttle': () =>
    oneEach(
      () => pThrottle({ limit: 10, interval: 1000 })(async () => 0),
      (throttled) => throttled(),
    ),
  bottleneck: () =>
    oneEach(
      () => new Bottleneck({ minTime: 100 }),
      (limiter) => limiter.schedule(async () => 0),
    ),
}

const [kind = '', count = '0'] = process.argv.slice(2)
const keeper = keepers[kind]?.() as Keeper
await keeper.ask('https://first.example')
const before = usedBytes()
for (let host = 0; host < Number(count); host++) {
  // By way of a buffer, so that it is one piece of memory and not a tree of pieces.
  const asked = keeper.ask(Buffer.from(`https://www.site-${host}.example`).toString('latin1'))
  // Whoever answers later may be a timer away; they are asked together in that case.
  if (kind !== 'bottleneck') await asked
}
if (kind === 'bottleneck') await new Promise((resolve) => setTimeout(resolve, 1000))
const bytes = (usedBytes() - before) / Number(count)
const remembered = keeper.forget?.()
const left = remembered === undefined ? undefined : (usedBytes() - before) / Number(count)
// The keeper must live until here.
const result: IdleHosts & { readonly kept: boolean } = { bytes, left, remembered, kept: keeper !== undefined }
console.log(JSON.stringify(result))
process.exit(0)
