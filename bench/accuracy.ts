/** How well limiters keep a pace of 100 requests per second: rate, gaps and windows, on a smooth event loop and on one that stalls. */
import { createPacer, type Policy } from '@hostpace/core'
import Bottleneck from 'bottleneck'
import { RateLimiter } from 'limiter'
import pThrottle from 'p-throttle'
import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible'
import { printTable } from './lib/table.ts'

const perSecond = 100
const gapMs = 1000 / perSecond

/** Something that lets requests go at a pace; `depart` resolves when one may leave. */
interface Pace {
  readonly name: string
  readonly depart: () => Promise<unknown>
}

function hostpace(name: string, policy: Policy): Pace {
  const pacer = createPacer(policy)
  // As the adapters do: the moment of writing is told.
  const depart = async (): Promise<void> => {
    const permit = await pacer.wait('https://www.example.com/', { reportsSent: true })
    permit.sent()
    permit.done()
  }
  return { name: `hostpace, ${name}`, depart }
}

/** Limiters set to one request per 10 ms. */
function spaced(): Pace[] {
  const bottleneck = new Bottleneck({ minTime: gapMs })
  const limiter = new RateLimiter({ tokensPerInterval: 1, interval: gapMs })
  return [
    hostpace('intervalMs: 10', { intervalMs: gapMs }),
    hostpace("rate: '100r/s', capacity: 1", { rate: perSecond, capacity: 1 }),
    hostpace("rate: '100r/s', capacity: 2", { rate: perSecond, capacity: 2 }),
    { name: 'p-throttle, 1 per 10 ms', depart: pThrottle({ limit: 1, interval: gapMs })(async () => 0) },
    { name: 'p-throttle, strict', depart: pThrottle({ limit: 1, interval: gapMs, strict: true })(async () => 0) },
    { name: 'limiter, 1 per 10 ms', depart: () => limiter.removeTokens(1) },
    { name: 'bottleneck, minTime 10', depart: () => bottleneck.schedule(async () => 0) },
  ]
}

/** Limiters set to 100 requests in any second, and a rush that starts near the end of a second. */
function windowed(): Pace[] {
  const bottleneck = new Bottleneck({
    reservoir: perSecond,
    reservoirRefreshAmount: perSecond,
    reservoirRefreshInterval: 1000,
  })
  const limiter = new RateLimiter({ tokensPerInterval: perSecond, interval: 'second' })
  const queue = new RateLimiterQueue(new RateLimiterMemory({ points: perSecond, duration: 1 }))
  const quota = { limit: perSecond, windowMs: 1000 }
  return [
    hostpace('quota, exact', { quotas: [quota] }),
    hostpace('quota, counter', { quotas: [{ ...quota, window: 'counter' }] }),
    hostpace('quota, fixed', { quotas: [{ ...quota, window: 'fixed' }] }),
    { name: 'p-throttle', depart: pThrottle({ limit: perSecond, interval: 1000 })(async () => 0) },
    {
      name: 'p-throttle, strict',
      depart: pThrottle({ limit: perSecond, interval: 1000, strict: true })(async () => 0),
    },
    { name: 'limiter', depart: () => limiter.removeTokens(1) },
    { name: 'rate-limiter-flexible, queue', depart: () => queue.removeTokens(1) },
    { name: 'bottleneck, reservoir', depart: () => bottleneck.schedule(async () => 0) },
  ]
}

/** Has `count` requests leave as they may, and gives the times at which they did. */
async function departures({ depart }: Pace, count: number): Promise<number[]> {
  const times: number[] = []
  const leave = async (): Promise<void> => {
    await depart()
    times.push(performance.now())
  }
  await Promise.all(Array.from({ length: count }, leave))
  return times
}

/** A light start, a rest of nearly a second, then more than anybody may send. */
async function rush(pace: Pace): Promise<number[]> {
  const early = await departures(pace, 1)
  await new Promise((resolve) => setTimeout(resolve, 900))
  return [...early, ...(await departures(pace, 3 * perSecond))]
}

/** Blocks the event loop for 120 ms, again and again. @returns a function that ends it */
function stall(): () => void {
  const timer = setInterval(() => {
    const untilMs = performance.now() + 120
    while (performance.now() < untilMs);
  }, 400)
  return () => clearInterval(timer)
}

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - (times[index] as number))
}

/** The most that left in any second. */
function worstWindow(times: readonly number[]): number {
  let most = 0
  for (let first = 0, end = 0; first < times.length; first++) {
    while (end < times.length && (times[end] as number) < (times[first] as number) + 1000) end++
    most = Math.max(most, end - first)
  }
  return most
}

for (const stalls of [false, true]) {
  const loop = stalls ? 'an event loop that stalls' : 'a smooth event loop'
  const end = stalls ? stall() : () => {}
  const spacing = []
  for (const pace of spaced()) {
    const times = await departures(pace, 250)
    const gaps = gapsOf(times)
    const tookMs = (times.at(-1) as number) - (times[0] as number)
    // The clock that is read here is a little later than the one that decided; 50 us are allowed for that.
    const short = gaps.filter((gap) => gap < gapMs - 0.05).length
    spacing.push([
      pace.name,
      `${((100 * gaps.length * gapMs) / tookMs).toFixed(1)} %`,
      `${((100 * short) / gaps.length).toFixed(1)} %`,
      Math.min(...gaps),
      worstWindow(times),
    ])
  }
  printTable(
    `100 per second, one by one, on ${loop}`,
    ['', 'rate reached', 'short gaps', 'shortest (ms)', 'most in a second'],
    spacing,
  )
  const windows = []
  for (const pace of windowed()) windows.push([pace.name, worstWindow(await rush(pace))])
  printTable(`100 per second as a quota, a rush, on ${loop}`, ['', 'most in a second'], windows)
  end()
}
process.exit(0)
