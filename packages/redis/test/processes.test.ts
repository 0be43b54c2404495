import { createPacer, memoryStore, type Pacer, type Policy } from '@hostpace/core'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { redisStore } from '../src/index.ts'
import { host, mostIn, send } from './pacing.ts'
import { hasRedisServer, type RedisServer, startRedisServer } from './redis-server.ts'
import { fakeTime, type StartedProgram, startPacing } from './start-program.ts'

const perSecond = { rate: '7r/s', quotas: [{ limit: 7, windowMs: 1000 }] }
/** Messages to and from the server take their time: what left with a gap may be seen with one that is shorter by this. */
const fuzzMs = 100
const leaseMs = 1500

describe.skipIf(!hasRedisServer)('processes of their own', { timeout: 90_000 }, () => {
  let server: RedisServer
  let client: Redis
  const programs: StartedProgram[] = []

  beforeAll(async () => {
    server = await startRedisServer()
    client = new Redis(server.url)
  })

  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.kill()))
    await client.flushall()
  })

  afterAll(async () => {
    client?.disconnect()
    await server?.close()
  })

  async function start(policy: Policy, aheadS = 0): Promise<StartedProgram> {
    const program = await startPacing({ url: server.url, policy, options: { leaseMs } }, aheadS)
    programs.push(program)
    return program
  }

  test('send together what one may (D13)', async () => {
    const four = await Promise.all([0, 0, 0, 0].map(() => start(perSecond)))
    const times = (await Promise.all(four.map((program) => program.told({ forMs: 3000 })))).flat()
    expect(mostIn(1000 - fuzzMs, times)).toBeLessThanOrEqual(7)
    expect(times.length).toBeGreaterThan(7)
  })

  test('send four times as much by the memory store, which is that of one process (D13)', async () => {
    const pacers = [0, 0, 0, 0].map(() => createPacer({ ...perSecond, store: memoryStore(), adapt: false }))
    const times = (await Promise.all(pacers.map((pacer) => send(pacer, 7)))).flat()
    expect(times.length).toBe(28)
    expect(mostIn(1000 - fuzzMs, times)).toBeGreaterThan(7)
  })

  test.skipIf(fakeTime === undefined)('go by the clock of the server, not by their own (D03)', async () => {
    const aheadS = [0, 3600, -3600]
    const three = await Promise.all(aheadS.map((seconds) => start(perSecond, seconds)))
    const seen = await Promise.all(three.map((program) => program.told({ forMs: 3000 })))
    const times = seen.flatMap((own, index) => own.map((atMs) => atMs - 1000 * (aheadS[index] as number)))
    expect(mostIn(1000 - fuzzMs, times)).toBeLessThanOrEqual(7)
    expect(Math.min(...seen.map((own) => own.length))).toBeGreaterThan(0)
  })

  test('that die give their permits back when their lease is over, and not before (D04)', async () => {
    const policy = { rate: '1000r/s', concurrency: 2 }
    const dying = await start(policy)
    await dying.told({ hold: 2 })
    await dying.kill()
    const diedAtMs = performance.now()
    const pacer = createPacer({ ...policy, adapt: false, store: redisStore({ client, leaseMs }) })
    const permits = [await pacer.wait(host), await pacer.wait(host)]
    // It was last heard of a third of the lease before at the most.
    expect(performance.now() - diedAtMs).toBeGreaterThan(leaseMs / 2)
    expect((await pacer.peek(host)).inFlight).toBe(2)
    for (const permit of permits) permit.done()
    await pacer.close()
  })

  test('that live keep their permits for longer than a lease (D04)', async () => {
    const policy = { rate: '1000r/s', concurrency: 2 }
    const holding = await start(policy)
    await holding.told({ hold: 2 })
    const pacer: Pacer = createPacer({ ...policy, adapt: false, store: redisStore({ client, leaseMs }) })
    let isThrough = false
    const waiting = pacer.wait(host).then((permit) => {
      isThrough = true
      permit.done()
    })
    const untilMs = performance.now() + 3 * leaseMs
    while (performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(isThrough).toBe(false)
    await holding.kill()
    await waiting
    await pacer.close()
  })
})
