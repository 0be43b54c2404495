import assert from 'node:assert/strict'
import type { Layer, LayerOptions } from '../layers/layer.ts'
import { ManualClock } from './manual-clock.ts'

/** How the suite makes layers of one rule. */
export interface LayerDriver {
  /** Makes a layer that lets one request go at once, keeps the second waiting, and has no bound on those who wait. */
  create(options: LayerOptions): Layer
}

export interface LayerScenario {
  readonly name: string
  run(driver: LayerDriver): void
}

/**
 * What every layer must do, whatever its rule.
 *
 * ```ts
 * for (const { name, run } of layerScenarios) test(name, () => run({ create: (options) => new MyLayer(options) }))
 * ```
 */
export const layerScenarios: readonly LayerScenario[] = [
  scenario('the first goes at once', ({ layer }) => {
    assert.equal(layer.earliestMs(), 0)
    assert.equal(layer.acquire(), 0)
  }),

  scenario('acquire takes what earliestMs has promised, and looking takes nothing', ({ layer }) => {
    for (let request = 0; request < 10; request++) {
      const promised = layer.earliestMs()
      assert.equal(layer.earliestMs(), promised)
      assert.equal(layer.acquire(), promised)
    }
  }),

  scenario('waits never get shorter in the order of asking', ({ layer }) => {
    const waits = Array.from({ length: 20 }, () => layer.acquire())
    assert.deepEqual(
      waits,
      [...waits].sort((a, b) => a - b),
    )
    assert.ok((waits.at(-1) as number) > 0)
  }),

  scenario('tryAcquire refuses until exactly the promised time, and a refusal takes nothing', ({ layer, clock }) => {
    layer.acquire()
    const waitMs = layer.earliestMs()
    clock.advance(waitMs - 0.01)
    assert.equal(layer.tryAcquire(), false)
    assert.equal(layer.tryAcquire(), false)
    clock.advance(0.01)
    assert.equal(layer.tryAcquire(), true)
  }),

  scenario('a clock that steps back never adds credit', ({ layer, clock, stepBack }) => {
    clock.advance(100_000)
    layer.acquire()
    const waitMs = layer.earliestMs()
    stepBack(50_000)
    assert.ok(layer.earliestMs() >= waitMs)
  }),

  scenario('a fresh state is written over whatever stood there, and over nothing beside it', ({ layer }) => {
    const [clean, used] = [new Float64Array(layer.size), new Float64Array(layer.size + 6).fill(7)]
    layer.reset(clean, 0)
    layer.reset(used, 3)
    assert.deepEqual([...used], [7, 7, 7, ...clean, 7, 7, 7])
  }),

  scenario('a saved state that is loaded elsewhere goes on as before', ({ layer }) => {
    const [one, other] = [new Float64Array(layer.size), new Float64Array(layer.size + 3)]
    layer.reset(one, 0)
    layer.reset(other, 3)
    for (let request = 0; request < 7; request++) {
      layer.charge(one, 0, layer.earliest(one, 0, 10 * request, 1), 1)
    }
    layer.load(other, 3, layer.save(one, 0))
    for (let request = 0; request < 7; request++) {
      const departMs = layer.earliest(one, 0, 70 + request, 1)
      assert.equal(layer.earliest(other, 3, 70 + request, 1), departMs)
      layer.charge(one, 0, departMs, 1)
      layer.charge(other, 3, departMs, 1)
    }
    layer.release(other, 3)
    assert.equal(layer.earliest(other, 3, 0, 1) >= 0, true)
  }),

  scenario('a state that is reset is as one never used, wherever it stands', ({ layer }) => {
    const at = 4
    const used = new Float64Array(at + layer.size + 4)
    layer.reset(used, at)
    for (let request = 0; request < 5; request++) layer.charge(used, at, layer.earliest(used, at, 0, 1), 1)
    layer.release(used, at)
    layer.reset(used, at)
    const fresh = new Float64Array(layer.size)
    layer.reset(fresh, 0)
    assert.deepEqual([...used.subarray(at, at + layer.size)], [...fresh])
    assert.deepEqual([...used.subarray(0, at), ...used.subarray(at + layer.size)], Array(at + 4).fill(0))
  }),

  scenario('loading leaves what was saved as it is', ({ layer }) => {
    const cells = new Float64Array(layer.size)
    layer.reset(cells, 0)
    layer.charge(cells, 0, 0, 1)
    const saved = layer.save(cells, 0)
    const copy = [...saved]
    layer.load(cells, 0, saved)
    layer.charge(cells, 0, layer.earliest(cells, 0, 0, 1), 1)
    assert.deepEqual(saved, copy)
  }),

  scenario('nobody departs before now, however long ago the last one was', ({ layer }) => {
    const cells = new Float64Array(layer.size)
    layer.reset(cells, 0)
    for (const nowMs of [0, 123_456, 1_000_000]) {
      assert.equal(layer.earliest(cells, 0, nowMs, 1), nowMs)
      layer.charge(cells, 0, nowMs, 1)
    }
  }),

  scenario('a host that has recovered is as one never asked', ({ layer }) => {
    const [used, fresh] = [new Float64Array(layer.size), new Float64Array(layer.size)]
    layer.reset(used, 0)
    layer.reset(fresh, 0)
    assert.ok(layer.recoveredAt(fresh, 0) <= 0)
    layer.charge(used, 0, 0, 1)
    const recoveredMs = layer.recoveredAt(used, 0)
    assert.ok(recoveredMs > 0)
    for (let request = 0; request < 10; request++) {
      const departMs = layer.earliest(fresh, 0, recoveredMs, 1)
      assert.equal(layer.earliest(used, 0, recoveredMs, 1), departMs)
      layer.charge(used, 0, departMs, 1)
      layer.charge(fresh, 0, departMs, 1)
    }
  }),

  scenario('the credit says whether one may go', ({ layer }) => {
    const cells = new Float64Array(layer.size)
    layer.reset(cells, 0)
    assert.ok(layer.credit(cells, 0, 0) >= 1)
    layer.charge(cells, 0, 0, 1)
    const departMs = layer.earliest(cells, 0, 0, 1)
    assert.ok(layer.credit(cells, 0, 0) < 1)
    assert.ok(layer.credit(cells, 0, departMs) >= 1 - 1e-9)
    assert.ok(layer.credit(cells, 0, departMs - 0.01) < 1)
  }),

  scenario('a restart lets one go at its time and never raises the credit', ({ layer }) => {
    const cells = new Float64Array(layer.size)
    layer.reset(cells, 0)
    layer.restart(cells, 0, 1000)
    assert.equal(layer.earliest(cells, 0, 1000, 1), 1000)
    layer.charge(cells, 0, 1000, 1)
    const secondMs = layer.earliest(cells, 0, 1000, 1)
    assert.ok(secondMs > 1000)
    layer.restart(cells, 0, 1000)
    assert.ok(layer.earliest(cells, 0, 1000, 1) >= secondMs)
  }),

  scenario('a cost that can never leave is refused, as is one that is no whole number', ({ layer }) => {
    for (const cost of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1' as unknown as number]) {
      assert.throws(() => layer.acquire(cost), { code: 'ERR_HOSTPACE_POLICY', path: 'cost' })
    }
    if (layer.maxCost < Number.MAX_SAFE_INTEGER) {
      assert.throws(() => layer.tryAcquire(layer.maxCost + 1), { code: 'ERR_HOSTPACE_POLICY', path: 'cost' })
    }
  }),
]

interface Setting {
  layer: Layer
  clock: ManualClock
  stepBack(ms: number): void
}

function scenario(name: string, run: (setting: Setting) => void): LayerScenario {
  return {
    name,
    run(driver) {
      const clock = new ManualClock()
      let steppedMs = 0
      const layer = driver.create({ clock: { now: () => clock.now() - steppedMs } })
      run({
        layer,
        clock,
        stepBack: (ms) => {
          steppedMs += ms
        },
      })
    },
  }
}
