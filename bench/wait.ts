/** Time and bytes of a `pacer.wait` that resolves at once, and its `done()`, for one host and for very many. */
import { createPacer } from '@hostpace/core'
import pThrottle from 'p-throttle'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { type Contender, measure } from './lib/measure.ts'
import { neverWaits } from './lib/policies.ts'
import { printTable } from './lib/table.ts'
import { manyHosts, uniform, zipf } from './lib/traffic.ts'

const hosts = 100_000
const requests = 200_000

/** Goes through a list of URLs, one request after another. */
function waits(name: string, urls: readonly (string | URL)[]): Contender {
  const pacer = createPacer(neverWaits)
  let next = 0
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) {
        const permit = await pacer.wait(urls[next] as string | URL)
        permit.done()
        next = next + 1 === urls.length ? 0 : next + 1
      }
    },
  }
}

function consumes(name: string, keys: readonly string[]): Contender {
  const points = new RateLimiterMemory({ points: 1e12, duration: 3600 })
  let next = 0
  return {
    name,
    async run(times) {
      for (let count = 0; count < times; count++) {
        await points.consume(keys[next] as string)
        next = next + 1 === keys.length ? 0 : next + 1
      }
    },
  }
}

const throttled = pThrottle({ limit: 1e9, interval: 1000 })(async () => 0)
const one = ['https://www.example.com/some/page?id=1']
const even = manyHosts(uniform(requests, hosts))
const skewed = manyHosts(zipf(requests, hosts))
const contenders: Contender[] = [
  {
    name: 'an await of a promise that is resolved (floor)',
    async run(times) {
      for (let count = 0; count < times; count++) await Promise.resolve(count)
    },
  },
  {
    name: 'p-throttle, one host',
    async run(times) {
      for (let count = 0; count < times; count++) await throttled()
    },
  },
  consumes('rate-limiter-flexible, one host', ['https://www.example.com']),
  waits('pacer.wait, one host, string', one),
  waits(
    'pacer.wait, one host, URL',
    one.map((url) => new URL(url)),
  ),
  consumes(
    'rate-limiter-flexible, 100,000 hosts, Zipf, origins',
    skewed.map((url) => new URL(url).origin),
  ),
  waits('pacer.wait, 100,000 hosts, Zipf, string', skewed),
  waits(
    'pacer.wait, 100,000 hosts, Zipf, URL',
    skewed.map((url) => new URL(url)),
  ),
  waits('pacer.wait, 100,000 hosts, uniform, string', even),
  waits(
    'pacer.wait, 100,000 hosts, uniform, URL',
    even.map((url) => new URL(url)),
  ),
]

const costs = await measure(contenders, requests, 9)
const peer = costs.find(({ name }) => name.startsWith('p-throttle'))?.ns ?? Number.NaN
printTable(
  'A wait that resolves at once, awaited, and done()',
  ['', 'ns', 'of p-throttle', 'bytes'],
  costs.map(({ name, ns, bytes }) => [name, ns, ns / peer, bytes]),
)
