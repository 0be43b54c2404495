/** Time and bytes of one decision that lets the request go, by hostpace's three layers and by those of others. */
import { HostLimiter } from '@hostpace/core'
import Bottleneck from 'bottleneck'
import { RateLimiter } from 'limiter'
import pThrottle from 'p-throttle'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { Gcra } from './lib/gcra.ts'
import { type Contender, measure } from './lib/measure.ts'
import { declared, neverWaits } from './lib/policies.ts'
import { printTable } from './lib/table.ts'

/** A clock that costs nothing and goes on by four seconds at each look, so that the declared policy never asks for a wait. */
function freeClock(): { now(): number } {
  let nowMs = 0
  return {
    now() {
      nowMs += 4000.5
      return nowMs
    },
  }
}

/** Keeps what is measured from being optimized away. */
let sink = 0

function decides(name: string, decide: () => number): Contender {
  return {
    name,
    run(times) {
      for (let count = 0; count < times; count++) sink += decide()
    },
  }
}

function answersLater(name: string, decide: () => Promise<unknown>): Contender {
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) await decide()
    },
  }
}

const counter = { ...declared, quotas: [{ limit: 1000, windowMs: 3_600_000, window: 'counter' as const }] }
const floor = new Gcra(1e-6, 1e9)
const exact = new HostLimiter(declared, { clock: freeClock() })
const counted = new HostLimiter(counter, { clock: freeClock() })
const timed = new HostLimiter(neverWaits)
const free = freeClock()
const tokens = new RateLimiter({ tokensPerInterval: 1e9, interval: 'second' })
const points = new RateLimiterMemory({ points: 1e12, duration: 3600 })
const throttled = pThrottle({ limit: 1e9, interval: 1000 })(async () => 0)
const bottleneck = new Bottleneck({ reservoir: 1e12 })

const atOnce = await measure(
  [
    decides('the clock alone: performance.now()', () => performance.now()),
    decides('GCRA by hand, free clock (floor)', () => floor.acquire(free.now())),
    decides('HostLimiter, 3 layers (counter), free clock', () => counted.acquire()),
    decides('HostLimiter, 3 layers (exact log), free clock', () => exact.acquire()),
    decides('GCRA by hand', () => floor.acquire(performance.now())),
    decides('HostLimiter, 3 layers (exact log)', () => timed.acquire()),
    decides('limiter, tryRemoveTokens', () => Number(tokens.tryRemoveTokens(1))),
  ],
  300_000,
)
const awaited = await measure(
  [
    answersLater('HostLimiter, 3 layers, awaited', async () => timed.acquire()),
    answersLater('p-throttle', () => throttled()),
    answersLater('limiter, removeTokens', () => tokens.removeTokens(1)),
    answersLater('rate-limiter-flexible, memory', () => points.consume('host')),
    { ...answersLater('bottleneck', () => bottleneck.schedule(async () => 0)), share: 0.005 },
  ],
  20_000,
)
const clockNs = atOnce[0]?.ns ?? 0
printTable(
  'One decision that lets the request go',
  ['', 'ns', 'without the clock', 'bytes'],
  [...atOnce, ...awaited].map(({ name, ns, bytes }, index) => [
    name,
    ns,
    index >= 4 && index < 6 ? ns - clockNs : undefined,
    bytes,
  ]),
)
if (sink === Number.POSITIVE_INFINITY) console.log(sink)
await bottleneck.disconnect()
