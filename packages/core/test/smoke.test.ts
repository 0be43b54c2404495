import { expect, test } from 'vitest'
import { createPacer, HostLimiter, TokenBucket, LeakyBucket } from '@hostpace/core'
import { ManualClock } from '@hostpace/core/testing'
test('worked', () => {
  const clock = new ManualClock()
  const b = new TokenBucket({ rate: 1, capacity: 5, clock })
  expect(Array.from({ length: 8 }, () => b.acquire())).toEqual([0,0,0,0,0,1000,2000,3000])
  const l = new LeakyBucket({ intervalMs: 2000, clock })
  expect(Array.from({ length: 4 }, () => l.acquire())).toEqual([0,2000,4000,6000])
  const h = new HostLimiter({intervalMs: 2000, rate: '10r/s', capacity: 10, quotas: [{limit: 1000, windowMs: 3_600_000}]}, { clock })
  expect(h.acquire()).toBe(0); expect(h.acquire()).toBe(2000)
  const r1 = h.reserve(), r2 = h.reserve(), r3 = h.reserve()
  expect([r1,r2,r3].map(r=>r.waitMs)).toEqual([4000,6000,8000])
  r2.cancel()
  expect(h.reserve().waitMs).toBe(6000)
  expect(h.acquire()).toBe(10000)
})
test('pacer', async () => {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, clock })
  const times: number[] = []
  for (let i = 0; i < 4; i++) pacer.wait('https://a.example/x').then((p) => { times.push(clock.now()); p.done({status: 200}) })
  await clock.advanceAsync(500)
  console.log(await pacer.peek('https://a.example/y'), String(await pacer.explain('https://a.example/y')))
  pacer.pause('https://a.example/', 5000)
  await clock.advanceAsync(50000)
  expect(times).toEqual([0, 5500, 6500, 7500])
  console.log(JSON.stringify(pacer.stats()), clock.timers)
  await pacer.close()
})
