import { describe, expect, test } from 'vitest'
import {
  FixedWindow,
  type Layer,
  LeakyBucket,
  PolicyError,
  QueueFullError,
  SlidingWindowCounter,
  SlidingWindowLog,
  TokenBucket,
} from '../../src/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

/** A host's state for a layer, with what the layer says about it. */
function hostOf(layer: Layer) {
  const cells = new Float64Array(layer.size)
  layer.reset(cells, 0)
  return {
    cells,
    /** Departs as early as it may. */
    go: (nowMs: number, cost = 1) => {
      const departMs = layer.earliest(cells, 0, nowMs, cost)
      layer.charge(cells, 0, departMs, cost)
      return departMs
    },
    goes: (count: number, nowMs: number, cost = 1) =>
      Array.from({ length: count }, () => {
        const departMs = layer.earliest(cells, 0, nowMs, cost)
        layer.charge(cells, 0, departMs, cost)
        return departMs
      }),
    restart: (atMs: number) => layer.restart(cells, 0, atMs),
    credit: (nowMs: number) => layer.credit(cells, 0, nowMs),
    recoveredAt: () => layer.recoveredAt(cells, 0),
    save: () => layer.save(cells, 0),
    adopt: (former: Layer, saved: number[], nowMs: number) => layer.adopt(cells, 0, former, saved, nowMs),
  }
}

function acquired(layer: Layer, count: number): number[] {
  return Array.from({ length: count }, () => layer.acquire())
}

describe('TokenBucket', () => {
  test('one per second with a capacity of five: five at once, then one per second', () => {
    const layer = new TokenBucket({ rate: 1, capacity: 5, clock: new ManualClock() })
    expect(acquired(layer, 8)).toEqual([0, 0, 0, 0, 0, 1000, 2000, 3000])
  })

  test('10r/s with a capacity of 20: 20 at once, 10 more after an idle second', () => {
    const clock = new ManualClock()
    const layer = new TokenBucket({ rate: '10r/s', capacity: 20, clock })
    expect(Array.from({ length: 21 }, () => layer.tryAcquire()).filter(Boolean)).toHaveLength(20)
    clock.advance(1000)
    expect(Array.from({ length: 20 }, () => layer.tryAcquire()).filter(Boolean)).toHaveLength(10)
  })

  test('at a steady 15 a second only 10 a second pass', () => {
    const clock = new ManualClock()
    const layer = new TokenBucket({ rate: '10r/s', capacity: 20, clock })
    while (layer.tryAcquire()) clock.advance(0)
    let passed = 0
    for (let request = 0; request < 150; request++) {
      clock.advance(1000 / 15)
      if (layer.tryAcquire()) passed++
    }
    expect(passed).toBe(100)
  })

  test('the capacity is one second of the rate unless given, and at least one', () => {
    expect(new TokenBucket({ rate: 5 }).describe()).toEqual({ ratePerSecond: 5, capacity: 5 })
    expect(new TokenBucket({ rate: '6r/m' }).describe().capacity).toBe(1)
    expect(new TokenBucket({ rate: 2.5 })).toMatchObject({ capacity: 2.5, maxCost: 2 })
  })

  test('A07: costs are served in order, each when it is there', () => {
    const host = hostOf(new TokenBucket({ rate: 10, capacity: 5 }))
    host.go(0, 5)
    expect([host.go(0, 5), host.go(0), host.go(100), host.go(200), host.go(300)]).toEqual([500, 600, 700, 800, 900])
  })

  test('credit, recovery and fractions of a token', () => {
    const host = hostOf(new TokenBucket({ rate: 10, capacity: 4 }))
    expect([host.credit(0), host.recoveredAt()]).toEqual([4, Number.NEGATIVE_INFINITY])
    host.goes(4, 0)
    expect([host.credit(0), host.credit(50), host.credit(400), host.credit(9000), host.recoveredAt()]).toEqual([
      0, 0.5, 4, 4, 400,
    ])
    host.go(0)
    expect(host.credit(0)).toBe(0)
  })

  test('a restart leaves one token, or fewer if there were fewer', () => {
    const layer = new TokenBucket({ rate: 10, capacity: 4 })
    const full = hostOf(layer)
    full.restart(1000)
    expect(full.goes(3, 1000)).toEqual([1000, 1100, 1200])
    const empty = hostOf(layer)
    empty.goes(4, 950)
    empty.restart(1000)
    expect(empty.go(1000)).toBe(1050)
  })

  test('another rate takes over the tokens that were missing', () => {
    const former = new TokenBucket({ rate: 10, capacity: 4 })
    const host = hostOf(former)
    host.goes(4, 0)
    const next = hostOf(new TokenBucket({ rate: 1, capacity: 4 }))
    next.adopt(former, host.save(), 200)
    expect([next.credit(200), next.go(200, 3)]).toEqual([2, 1200])
    const recovered = hostOf(new TokenBucket({ rate: 1, capacity: 4 }))
    recovered.adopt(former, host.save(), 400)
    expect(recovered.recoveredAt()).toBe(Number.NEGATIVE_INFINITY)
  })
})

describe('LeakyBucket', () => {
  test('an interval of two seconds: 0, 2000, 4000, 6000', () => {
    expect(acquired(new LeakyBucket({ intervalMs: 2000, clock: new ManualClock() }), 4)).toEqual([0, 2000, 4000, 6000])
  })

  test('idle time earns nothing, and a late departure counts from where it was', () => {
    const host = hostOf(new LeakyBucket({ intervalMs: 100 }))
    expect([host.go(0), host.go(5000), host.go(5000), host.go(5150), host.go(5260)]).toEqual([
      0, 5000, 5100, 5200, 5300,
    ])
    expect(host.go(5450)).toBe(5450)
    expect(host.go(5450)).toBe(5550)
  })

  test('a cost takes as many intervals', () => {
    const host = hostOf(new LeakyBucket({ intervalMs: 100 }))
    expect([host.go(0, 3), host.go(0), host.go(0)]).toEqual([0, 300, 400])
  })

  test('a charge that is out of order never opens what is taken', () => {
    const layer = new LeakyBucket({ intervalMs: 100 })
    const host = hostOf(layer)
    host.go(50)
    layer.charge(host.cells, 0, 20, 1)
    expect(host.go(0)).toBe(150)
  })

  test('with a capacity what does not fit overflows, and room comes with time', () => {
    const clock = new ManualClock()
    const layer = new LeakyBucket({ intervalMs: 1000, capacity: 2, clock })
    expect(acquired(layer, 3)).toEqual([0, 1000, 2000])
    expect(() => layer.acquire()).toThrow(QueueFullError)
    expect(() => layer.earliestMs()).toThrow(/already has 2 waiting requests/)
    expect(layer.tryAcquire()).toBe(false)
    clock.advance(999)
    expect(() => layer.acquire()).toThrow(QueueFullError)
    clock.advance(1)
    expect(layer.earliestMs()).toBe(2000)
    expect(layer.acquire()).toBe(2000)
  })

  test('another interval counts from the last departure', () => {
    const former = new LeakyBucket({ intervalMs: 1000 })
    const host = hostOf(former)
    host.go(500)
    const next = hostOf(new LeakyBucket({ intervalMs: 300 }))
    next.adopt(former, host.save(), 600)
    expect(next.go(600)).toBe(800)
  })

  test('credit, recovery, restart and name', () => {
    const layer = new LeakyBucket({ intervalMs: 100, name: 'adaptive' })
    expect([layer.name, new LeakyBucket({ intervalMs: 1 }).name]).toEqual(['adaptive', 'interval'])
    const host = hostOf(layer)
    host.restart(50)
    expect(host.go(0)).toBe(0)
    expect([host.credit(99), host.credit(100), host.recoveredAt()]).toEqual([0, 1, 100])
    expect(layer.describe()).toEqual({ intervalMs: 100 })
  })
})

describe('SlidingWindowLog', () => {
  test('after a restart a very large quota comes free in ten thousand parts, and in no more', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 1_000_000, windowMs: 1e9 }))
    host.restart(0)
    expect(host.save()).toHaveLength(20_000)
    expect(host.credit(0)).toBe(1)
    expect(host.go(0)).toBe(0)
    expect(host.goes(101, 0)).toEqual([...Array(100).fill(100_000), 200_000])
  })

  test('after a restart an odd quota comes free as a whole within its window', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 25_002, windowMs: 1e9 }))
    host.restart(0)
    expect([host.credit(0), host.credit(119_991), host.credit(1e9)]).toEqual([1, 4, 25_002])
  })

  test('A01: never more than the limit in any window, wherever it starts', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 10, windowMs: 1000 }))
    host.go(0)
    expect(host.goes(20, 950)).toEqual([...Array(9).fill(950), 1000, ...Array(9).fill(1950), 2000])
  })

  test('A09: a light one never slips in before a heavy one that is promised', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 5, windowMs: 100 }))
    expect([host.go(0, 4), host.go(0, 5), host.go(50)]).toEqual([0, 100, 200])
  })

  test('an entry is over exactly a window after it', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 1, windowMs: 100 }))
    host.go(7)
    expect([host.credit(106.9), host.credit(107), host.recoveredAt()]).toEqual([0, 1, 107])
    expect(host.go(107)).toBe(107)
  })

  test('departures of one instant share an entry, and old entries are dropped', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 5, windowMs: 100 }))
    host.goes(3, 0)
    host.go(0, 2)
    expect(host.save()).toEqual([0, 5])
    host.goes(5, 50)
    expect(host.save()).toEqual([100, 5])
    for (let atMs = 200; atMs < 300; atMs += 25) host.go(atMs)
    expect(host.save()).toEqual([200, 1, 225, 1, 250, 1, 275, 1])
    expect(host.go(301)).toBe(301)
    expect(host.save()).toEqual([225, 1, 250, 1, 275, 1, 301, 1])
    expect(host.credit(301)).toBe(1)
  })

  test('a large cost waits for as many entries as it needs', () => {
    const host = hostOf(new SlidingWindowLog({ limit: 4, windowMs: 100 }))
    for (const atMs of [0, 10, 20, 30]) host.go(atMs)
    expect([host.go(40, 3), host.go(40, 2)]).toEqual([120, 220])
  })

  test('hosts do not share logs, and the room of a released one is used again', () => {
    const layer = new SlidingWindowLog({ limit: 1, windowMs: 100 })
    const [a, b] = [hostOf(layer), hostOf(layer)]
    a.go(0)
    expect(b.go(0)).toBe(0)
    const numberOfA = a.cells[0]
    layer.release(a.cells, 0)
    expect([a.credit(0), a.recoveredAt(), a.save()]).toEqual([1, Number.NEGATIVE_INFINITY, []])
    const c = hostOf(layer)
    c.go(50)
    expect(c.cells[0]).toBe(numberOfA)
    expect(b.go(0)).toBe(100)
  })

  test('a restart spreads what is unused over the window, and keeps what was used', () => {
    const layer = new SlidingWindowLog({ limit: 4, windowMs: 1000 })
    const unused = hostOf(layer)
    unused.restart(5000)
    expect(unused.goes(5, 5000)).toEqual([5000, 5250, 5500, 5750, 6000])
    const used = hostOf(layer)
    used.goes(4, 4900)
    used.restart(5000)
    expect(used.goes(2, 5000)).toEqual([5900, 5900])
    const partly = hostOf(layer)
    partly.goes(2, 4900)
    partly.restart(5000)
    expect(partly.goes(3, 5000)).toEqual([5000, 5500, 5900])
  })

  test('loading nothing empties the state', () => {
    const layer = new SlidingWindowLog({ limit: 1, windowMs: 100 })
    const host = hostOf(layer)
    host.go(0)
    layer.load(host.cells, 0, [])
    expect(host.go(0)).toBe(0)
    expect(layer.describe()).toEqual({ limit: 1, windowMs: 100 })
  })

  test('another limit and window go on from the same departures', () => {
    const former = new SlidingWindowLog({ limit: 3, windowMs: 100 })
    const host = hostOf(former)
    host.goes(3, 0)
    const next = hostOf(new SlidingWindowLog({ limit: 4, windowMs: 200 }))
    next.adopt(former, host.save(), 50)
    expect([next.go(50), next.go(50)]).toEqual([50, 200])
  })
})

describe('SlidingWindowCounter', () => {
  test('the window before counts by the share of it that is still in view', () => {
    const host = hostOf(new SlidingWindowCounter({ limit: 10, windowMs: 1000 }))
    expect(host.goes(10, 0)).toEqual(Array(10).fill(0))
    // The ten of the first window weigh less by one per 100 ms of the second.
    expect(host.goes(3, 0)).toEqual([1100, 1200, 1300])
    expect(host.credit(1500)).toBeCloseTo(2)
    expect(host.goes(3, 1550)).toEqual([1550, 1550, 1600])
  })

  test('the count of a window whose predecessor was empty is the limit', () => {
    const host = hostOf(new SlidingWindowCounter({ limit: 3, windowMs: 1000 }))
    expect(host.goes(3, 2500)).toEqual([2500, 2500, 2500])
    expect(host.go(2600)).toBeCloseTo(3333.333)
  })

  test('windows that are long over do not count', () => {
    const host = hostOf(new SlidingWindowCounter({ limit: 2, windowMs: 1000 }))
    host.goes(2, 0)
    expect(host.goes(2, 2000)).toEqual([2000, 2000])
    expect([host.recoveredAt(), host.credit(2000), host.credit(3500), host.credit(4000)]).toEqual([4000, 0, 1, 2])
  })

  test('a window that is charged ahead is where the next ones go', () => {
    const layer = new SlidingWindowCounter({ limit: 2, windowMs: 1000 })
    const host = hostOf(layer)
    layer.charge(host.cells, 0, 2500, 1)
    expect(host.go(0)).toBe(2000)
  })

  test('with the same window the counts keep their windows', () => {
    const former = new SlidingWindowCounter({ limit: 4, windowMs: 1000 })
    const host = hostOf(former)
    host.goes(4, 0)
    const next = hostOf(new SlidingWindowCounter({ limit: 5, windowMs: 1000 }))
    next.adopt(former, host.save(), 1500)
    expect([next.credit(1500), next.credit(1750)]).toEqual([3, 4])
  })

  test('what is charged ahead stays ahead', () => {
    const host = hostOf(new SlidingWindowCounter({ limit: 1, windowMs: 1000 }))
    expect([host.go(0), host.go(0), host.go(0)]).toEqual([0, 2000, 4000])
    expect(host.credit(0)).toBe(0)
  })

  test('a restart leaves one and gives the rest back evenly, but nothing of what was used', () => {
    const layer = new SlidingWindowCounter({ limit: 5, windowMs: 1000 })
    const unused = hostOf(layer)
    unused.restart(1500)
    expect(unused.credit(1500)).toBeCloseTo(1)
    expect(unused.goes(3, 1500)).toEqual([1500, 1750, 2000])
    const used = hostOf(layer)
    used.goes(4, 1000)
    const before = used.save()
    used.restart(1000)
    expect(used.save()).toEqual(before)
    const partly = hostOf(layer)
    partly.goes(3, 1000)
    partly.restart(1500)
    expect(partly.save()).toEqual([1, 3, 4])
  })

  test('another limit takes the counts over, another window what has been used', () => {
    const former = new SlidingWindowCounter({ limit: 4, windowMs: 1000 })
    const host = hostOf(former)
    host.goes(3, 0)
    const sameWindow = hostOf(new SlidingWindowCounter({ limit: 5, windowMs: 1000 }))
    sameWindow.adopt(former, host.save(), 500)
    expect(sameWindow.credit(500)).toBe(2)
    const otherWindow = hostOf(new SlidingWindowCounter({ limit: 5, windowMs: 2000 }))
    otherWindow.adopt(former, host.save(), 500)
    expect(otherWindow.credit(500)).toBe(2)
    const unused = hostOf(new SlidingWindowCounter({ limit: 5, windowMs: 2000 }))
    unused.adopt(former, host.save(), 9000)
    expect([unused.credit(9000), unused.recoveredAt()]).toEqual([5, Number.NEGATIVE_INFINITY])
    expect(former.describe()).toEqual({ limit: 4, windowMs: 1000 })
  })
})

describe('FixedWindow', () => {
  test('counts from one multiple of the window to the next, with its burst at the edge', () => {
    const host = hostOf(new FixedWindow({ limit: 3, windowMs: 1000 }))
    expect(host.goes(3, 999)).toEqual([999, 999, 999])
    expect(host.goes(4, 999)).toEqual([1000, 1000, 1000, 2000])
    expect([host.credit(1999), host.credit(2000), host.credit(3000), host.recoveredAt()]).toEqual([2, 2, 3, 3000])
  })

  test('a cost that does not fit waits for the next window', () => {
    const host = hostOf(new FixedWindow({ limit: 3, windowMs: 1000 }))
    expect([host.go(0, 2), host.go(0, 2), host.go(0, 1), host.go(0, 3)]).toEqual([0, 1000, 1000, 2000])
  })

  test('a restart leaves one in the window that runs, and nothing that was used', () => {
    const layer = new FixedWindow({ limit: 3, windowMs: 1000 })
    const unused = hostOf(layer)
    unused.restart(1500)
    expect(unused.goes(2, 1500)).toEqual([1500, 2000])
    const used = hostOf(layer)
    used.goes(3, 1100)
    used.restart(1500)
    expect(used.go(1500)).toBe(2000)
  })

  test('another limit takes the count over, another window what has been used', () => {
    const former = new FixedWindow({ limit: 4, windowMs: 1000 })
    const host = hostOf(former)
    host.goes(3, 100)
    const sameWindow = hostOf(new FixedWindow({ limit: 5, windowMs: 1000 }))
    sameWindow.adopt(former, host.save(), 500)
    const otherWindow = hostOf(new FixedWindow({ limit: 5, windowMs: 2000 }))
    otherWindow.adopt(former, host.save(), 500)
    expect([sameWindow.credit(500), otherWindow.credit(1500)]).toEqual([2, 2])
    host.goes(2, 100)
    const ahead = hostOf(new FixedWindow({ limit: 5, windowMs: 1000 }))
    ahead.adopt(former, host.save(), 500)
    expect([ahead.credit(1500), ahead.go(500)]).toEqual([4, 1000])
    const unused = hostOf(new FixedWindow({ limit: 5, windowMs: 2000 }))
    unused.adopt(former, host.save(), 2000)
    expect([unused.credit(2000), unused.recoveredAt()]).toEqual([5, Number.NEGATIVE_INFINITY])
    expect(former.describe()).toEqual({ limit: 4, windowMs: 1000 })
  })
})

test('each rule is explained under its name', () => {
  const window = { limit: 1, windowMs: 1 }
  const layers = [new TokenBucket({ rate: 1 }), new LeakyBucket({ intervalMs: 1 })]
  const windows = [new SlidingWindowLog(window), new SlidingWindowCounter(window), new FixedWindow(window)]
  expect(layers.map(({ name }) => name)).toEqual(['burst', 'interval'])
  expect(windows.map(({ name }) => name)).toEqual(['quota', 'quota', 'quota'])
})

describe('A11: options that make no sense are refused by name, and zero never means unlimited', () => {
  const senseless = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined, null]
  const makers: [string, (value: never) => Layer, unknown[]][] = [
    ['rate', (rate) => new TokenBucket({ rate }), senseless],
    [
      'capacity',
      (capacity) => new TokenBucket({ rate: 1, capacity }),
      [0, 0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null],
    ],
    ['intervalMs', (intervalMs) => new LeakyBucket({ intervalMs }), senseless],
    [
      'capacity',
      (capacity) => new LeakyBucket({ intervalMs: 1, capacity }),
      [0, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null],
    ],
    ...[SlidingWindowLog, SlidingWindowCounter, FixedWindow].flatMap((Window): typeof makers => [
      ['limit', (limit) => new Window({ limit, windowMs: 1000 }), [...senseless, 1.5]],
      ['windowMs', (windowMs) => new Window({ limit: 1, windowMs }), senseless],
    ]),
  ]
  test.each(makers.flatMap(([name, make, values]) => values.map((value) => [name, value, make] as const)))(
    '%s: %s',
    (name, value, make) => {
      const attempt = () => make(value as never)
      expect(attempt).toThrow(RangeError)
      expect(attempt).toThrow(PolicyError)
      expect(attempt).toThrow(name)
    },
  )
})

test('a rule has a name of its own, which a bundler that shortens the names of classes does not touch', () => {
  const layers = [
    new TokenBucket({ rate: 5 }),
    new LeakyBucket({ intervalMs: 5 }),
    new SlidingWindowLog({ limit: 5, windowMs: 5 }),
    new SlidingWindowCounter({ limit: 5, windowMs: 5 }),
    new FixedWindow({ limit: 5, windowMs: 5 }),
  ]
  const names = ['TokenBucket', 'LeakyBucket', 'SlidingWindowLog', 'SlidingWindowCounter', 'FixedWindow']
  expect(layers.map(({ rule }) => rule)).toEqual(names)
})
