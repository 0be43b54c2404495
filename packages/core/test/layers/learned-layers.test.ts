import { describe, expect, test } from 'vitest'
import { AdaptiveGap } from '../../src/layers/adaptive-gap.ts'
import type { Layer } from '../../src/layers/layer.ts'
import { PublishedBudget } from '../../src/layers/published-budget.ts'
import type { PublishedLimit } from '../../src/learning/learned.ts'

/** Where the state of the host begins: others have theirs before and behind it. */
const at = 3

/** The state of one host among others, with what the layer says about it. */
function hostOf(layer: Layer) {
  const cells = new Float64Array(at + layer.size + 3).fill(7)
  layer.reset(cells, at)
  return {
    cells,
    earliest: (nowMs: number, cost = 1) => layer.earliest(cells, at, nowMs, cost),
    /** Departs as early as they may, one after the other. */
    goes(count: number, nowMs: number, cost = 1) {
      let departMs = nowMs
      return Array.from({ length: count }, () => {
        departMs = layer.earliest(cells, at, departMs, cost)
        layer.charge(cells, at, departMs, cost)
        return departMs
      })
    },
    neighbours: () => [...cells.subarray(0, at), ...cells.subarray(at + layer.size)],
  }
}

describe('PublishedBudget', () => {
  const layer = new PublishedBudget()

  /** A host that published these limits at 1000 ms. */
  function hostWith(...published: Partial<PublishedLimit>[]) {
    const host = hostOf(layer)
    layer.learn(host.cells, at, { published: published.map((limit) => ({ departedAtMs: 0, ...limit })) }, 1000)
    return host
  }

  test('of a host that publishes nothing, nothing is asked', () => {
    const { cells, goes, neighbours } = hostOf(layer)
    expect(goes(3, 1000)).toEqual([1000, 1000, 1000])
    expect(layer.isStrict(cells, at)).toBe(false)
    expect(layer.credit(cells, at, 1000)).toBe(1)
    expect(layer.recoveredAt(cells, at)).toBeLessThanOrEqual(1000)
    expect(neighbours()).toEqual([7, 7, 7, 7, 7, 7])
  })

  test.each<[string, Partial<PublishedLimit>[], number[]]>([
    ['spread until the reset', [{ remaining: 2, resetAtMs: 5000 }], [1000, 3000, 5000, 5000]],
    ['held until the reset', [{ remaining: 0, resetAtMs: 5000 }], [5000, 5000]],
    [
      'spread over the next windows, too, where both are known',
      [{ remaining: 1, resetAtMs: 3000, limit: 2, windowMs: 1000 }],
      [1000, 3000, 3500, 4000, 4500],
    ],
    [
      'not in the next window, where its limit is unknown',
      [{ remaining: 1, resetAtMs: 3000, windowMs: 1000 }],
      [1000, 3000, 3000],
    ],
    [
      'not in the next window, where its length is unknown',
      [{ remaining: 1, resetAtMs: 3000, limit: 2 }],
      [1000, 3000, 3000],
    ],
    ['not in a window that is over', [{ remaining: 0, resetAtMs: 1000 }], [1000, 1000]],
    [
      'as the slowest says',
      [
        { remaining: 4, resetAtMs: 5000 },
        { remaining: 2, resetAtMs: 5000 },
      ],
      [1000, 3000, 5000],
    ],
    ['and a limit without a reset or a rest says nothing', [{ remaining: 0 }, { resetAtMs: 5000 }], [1000, 1000]],
  ])('what is left is %s', (_name, published, departures) => {
    const { goes, neighbours } = hostWith(...published)
    expect(goes(departures.length, 1000)).toEqual(departures)
    expect(neighbours()).toEqual([7, 7, 7, 7, 7, 7])
  })

  test('the tightest four of more count', () => {
    const loose = Array.from({ length: 6 }, (_, n) => ({ remaining: 10 + n, resetAtMs: 5000 }))
    const { goes } = hostWith(...loose, { remaining: 2, resetAtMs: 5000 }, {}, { remaining: 0 })
    expect(goes(3, 1000)).toEqual([1000, 3000, 5000])
  })

  test('a request that costs more waits for more', () => {
    const { earliest, goes } = hostWith({ remaining: 4, resetAtMs: 5000 })
    expect(earliest(1000, 5)).toBe(5000)
    expect(goes(2, 1000, 2)).toEqual([1000, 3000])
  })

  test('windows that went by unseen are left out', () => {
    const { goes } = hostWith({ remaining: 1, resetAtMs: 3000, limit: 2, windowMs: 1000 })
    // The window from 7000 to 8000 has two, and 600 ms of it are left.
    expect(goes(3, 7400)).toEqual([7400, 7700, 8000])
  })

  test('the last departure counts for what is learned after it', () => {
    const host = hostOf(layer)
    host.goes(1, 900)
    layer.learn(host.cells, at, { published: [{ remaining: 4, resetAtMs: 5000, departedAtMs: 900 }] }, 1000)
    expect(host.earliest(1000)).toBe(1900)
  })

  test('one that is withdrawn asks for nothing any more', () => {
    const { cells, earliest } = hostWith({ remaining: 0, resetAtMs: 5000 })
    layer.learn(cells, at, {}, 1000)
    expect(earliest(1000)).toBe(1000)
    expect(layer.isStrict(cells, at)).toBe(false)
  })

  test('it says whether it is strict, what credit there is, and until when it matters', () => {
    const { cells, goes } = hostWith({ remaining: 2, resetAtMs: 5000 })
    expect([layer.isStrict(cells, at), layer.credit(cells, at, 1000), layer.recoveredAt(cells, at)]).toEqual([
      true,
      1,
      5000,
    ])
    goes(1, 1000)
    expect([layer.credit(cells, at, 2999), layer.credit(cells, at, 3000)]).toEqual([0, 1])
    goes(1, 4900)
    expect(layer.recoveredAt(cells, at)).toBe(5000)
  })
})

describe('AdaptiveGap', () => {
  const layer = new AdaptiveGap(1000)
  const gapOf = (gapMs: number) => ({ gap: { gapMs, learnedAtMs: 0, reason: 'a test' } })

  test('starts with its gap, and goes on with what is learned, from the last departure on', () => {
    const { cells, goes, earliest, neighbours } = hostOf(layer)
    expect(goes(2, 0)).toEqual([0, 1000])
    layer.learn(cells, at, gapOf(300), 1100)
    expect(earliest(1100)).toBe(1300)
    layer.learn(cells, at, {}, 1100)
    expect(earliest(1100)).toBe(2000)
    expect(neighbours()).toEqual([7, 7, 7, 7, 7, 7])
  })

  test('a departure with a shorter way to go frees the host no earlier', () => {
    const { cells, earliest } = hostOf(layer)
    layer.charge(cells, at, 500, 1)
    layer.charge(cells, at, 400, 1)
    expect(earliest(0)).toBe(1500)
  })

  test('is strict if there is a gap', () => {
    const { cells } = hostOf(layer)
    expect(layer.isStrict(cells, at)).toBe(true)
    layer.learn(cells, at, gapOf(0), 0)
    expect(layer.isStrict(cells, at)).toBe(false)
    expect(layer.describe()).toEqual({ intervalMs: 1000 })
  })

  test('keeps what was learned when the policy changes, and the last departure', () => {
    const before = hostOf(layer)
    layer.learn(before.cells, at, gapOf(300), 0)
    before.goes(1, 0)
    const other = new AdaptiveGap(50)
    const after = hostOf(other)
    other.adopt(after.cells, at, layer, layer.save(before.cells, at), 100)
    expect(other.earliest(after.cells, at, 100, 1)).toBe(300)
    expect(other.gapOf(other.save(after.cells, at))).toBe(300)
  })
})
