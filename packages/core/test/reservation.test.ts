import { describe, expect, test } from 'vitest'
import { createPacer, type Permit, type PolicyError } from '../src/index.ts'
import { ManualClock } from '../src/testing/manual-clock.ts'

const url = 'https://a.example/'

function setUp() {
  const clock = new ManualClock()
  const pacer = createPacer({ intervalMs: 1000, clock })
  const departures: number[] = []
  const leave = (permit: Permit) => {
    departures.push(clock.now())
    permit.done()
  }
  return { clock, pacer, departures, leave }
}

describe('a reservation that its caller comes for', () => {
  test('in time leaves at its time, whoever came meanwhile', async () => {
    const { clock, pacer, departures, leave } = setUp()
    const [first, second] = [await pacer.reserve(url), await pacer.reserve(url)]
    expect([first.waitMs, second.waitMs]).toEqual([0, 1000])
    void pacer.wait(url, { reservation: second }).then(leave)
    void pacer.wait(url).then(leave)
    void pacer.wait(url, { reservation: first }).then(leave)
    await clock.advanceAsync(5000)
    expect(departures).toEqual([0, 1000, 2000])
  })

  test('a little late costs nothing more, and those after it make room', async () => {
    const { clock, pacer, departures, leave } = setUp()
    const reservations = [await pacer.reserve(url), await pacer.reserve(url), await pacer.reserve(url)]
    for (const [index, reservation] of reservations.entries()) {
      clock.setTimer(() => void pacer.wait(url, { reservation }).then(leave), index * 1000 + 3)
    }
    await clock.advanceAsync(10_000)
    expect(departures).toEqual([3, 1003, 2003])
    expect(pacer.stats().total.departures).toBe(3)
    await pacer.wait(url).then(leave)
    expect(departures[3]).toBe(10_000)
  })

  test('far too late is one that comes anew', async () => {
    const { clock, pacer, departures, leave } = setUp()
    const reservation = await pacer.reserve(url)
    await clock.advanceAsync(5000)
    await pacer.wait(url).then(leave)
    void pacer.wait(url, { reservation }).then(leave)
    await clock.advanceAsync(5000)
    expect(departures).toEqual([5000, 6000])
  })

  test('is promised the time behind all who wait, whatever the layer', async () => {
    const clock = new ManualClock()
    const pacer = createPacer({ rate: '1r/s', clock })
    const departures: number[] = []
    const leave = (permit: Permit) => {
      departures.push(clock.now())
      permit.done()
    }
    for (let i = 0; i < 4; i++) void pacer.wait(url).then(leave)
    const reservation = await pacer.reserve(url)
    expect(reservation.departAtMs).toBe(4000)
    void pacer.wait(url, { reservation }).then(leave)
    await clock.advanceAsync(5000)
    expect(departures).toEqual([0, 1000, 2000, 3000, 4000])
  })

  test('during a pause waits for its end', async () => {
    const { clock, pacer, departures, leave } = setUp()
    const reservation = await pacer.reserve(url)
    pacer.pause(url, 3000)
    void pacer.wait(url, { reservation }).then(leave)
    await clock.advanceAsync(5000)
    expect(departures).toEqual([3000])
  })

  test('twice leaves once by it', async () => {
    const { clock, pacer, departures, leave } = setUp()
    const reservation = await pacer.reserve(url)
    void pacer.wait(url, { reservation }).then(leave)
    void pacer.wait(url, { reservation }).then(leave)
    await clock.advanceAsync(5000)
    expect(departures).toEqual([0, 1000])
  })

  test('with another cost gives it back', async () => {
    const { clock, pacer, departures, leave } = setUp()
    const reservation = await pacer.reserve(url)
    void pacer.wait(url, { reservation, cost: 2 }).then(leave)
    await clock.advanceAsync(1)
    expect(departures).toEqual([0])
  })

  test('can still give up, and is rejected when the pacer is closed', async () => {
    const { clock, pacer, leave } = setUp()
    await pacer.wait(url).then(leave)
    const giveUp = new AbortController()
    const abandoned = pacer.wait(url, { reservation: await pacer.reserve(url), signal: giveUp.signal })
    const closed = pacer.wait(url, { reservation: await pacer.reserve(url) })
    giveUp.abort('enough')
    await expect(abandoned).rejects.toBe('enough')
    const next = await pacer.reserve(url)
    expect(next.waitMs).toBe(1000)
    await pacer.close()
    await expect(closed).rejects.toMatchObject({ code: 'ERR_HOSTPACE_CLOSED' })
    expect(clock.timers).toBe(0)
  })
})

describe('a reservation that nobody comes for', () => {
  test('is given back by cancel, once', async () => {
    const { pacer } = setUp()
    const [, second, third] = [await pacer.reserve(url), await pacer.reserve(url), await pacer.reserve(url)]
    second.cancel()
    second.cancel()
    expect((await pacer.reserve(url)).waitMs).toBe(1000)
    expect(third.waitMs).toBe(2000)
    expect((await pacer.reserve(url)).waitMs).toBe(3000)
  })

  test('counts as used once its time is over', async () => {
    const { clock, pacer } = setUp()
    const reservation = await pacer.reserve(url)
    await clock.advanceAsync(400)
    reservation.cancel()
    expect((await pacer.peek(url)).waitMs).toBe(600)
  })
})

test('a cost that can never leave is refused', async () => {
  const pacer = createPacer({ rate: '5r/s' })
  await expect(pacer.reserve(url, { cost: 6 })).rejects.toMatchObject({ path: 'cost' } satisfies Partial<PolicyError>)
  await pacer.close()
})
