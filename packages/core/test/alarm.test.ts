import { describe, expect, test } from 'vitest'
import { Alarm, type Sleeper } from '../src/alarm.ts'
import { range } from './support/pacer-setting.ts'
import { TestClock } from './support/test-clock.ts'

class Dozer implements Sleeper {
  wakeAtMs = 0
  heapIndex = -1
  readonly onWake: () => void

  constructor(onWake: () => void) {
    this.onWake = onWake
  }

  wake(): void {
    this.onWake()
  }
}

/** Numbers that look random and are the same at every run. */
function* shuffled(count: number): Generator<number> {
  let state = 1
  for (let index = 0; index < count; index++) {
    state = (state * 48_271) % 2_147_483_647
    yield state % 1000
  }
}

test('wakes everybody once, in the order of their times, with one timer', () => {
  const clock = new TestClock()
  const alarm = new Alarm(clock)
  const woken: number[] = []
  const times = [...shuffled(500)]
  for (const atMs of times) {
    const dozer = new Dozer(() => woken.push(dozer.wakeAtMs))
    alarm.set(dozer, atMs)
    expect(clock.timers).toBe(1)
  }
  clock.advance(1000)
  expect(woken).toEqual(times.sort((a, b) => a - b))
  expect(clock.timers).toBe(0)
})

test('those who are cleared or set anew in any order wake as they were set last', () => {
  const clock = new TestClock()
  const alarm = new Alarm(clock)
  const woken: number[] = []
  const dozers = range(300).map((name) => new Dozer(() => woken.push(name)))
  const times = [...shuffled(300)]
  for (const [name, dozer] of dozers.entries()) alarm.set(dozer, times[name] as number)
  for (const [name, dozer] of dozers.entries()) {
    if (name % 3 === 0) alarm.clear(dozer)
    if (name % 3 !== 1) continue
    times[name] = 1000 - (times[name] as number)
    alarm.set(dozer, times[name])
  }
  for (const dozer of dozers.slice(0, 3)) alarm.clear(dozer)
  clock.advance(1000)
  const expected = range(300).filter((name) => name % 3 !== 0 && name > 2)
  const at = (name: number) => times[name] as number
  expect(woken.map(at)).toEqual(expected.map(at).sort((a, b) => a - b))
  expect([...woken].sort((a, b) => a - b)).toEqual(expected)
})

describe('timers', () => {
  test('take whole milliseconds, rounded up, and at most 2^31 - 1', () => {
    const clock = new TestClock()
    const alarm = new Alarm(clock)
    const woken: number[] = []
    const dozer = new Dozer(() => woken.push(clock.now()))
    alarm.set(dozer, 0.25)
    alarm.set(dozer, 2 ** 33 + 0.5)
    clock.advance(2 ** 33)
    expect(woken).toEqual([])
    clock.advance(1)
    expect(woken).toEqual([2 ** 33 + 1])
    expect(clock.delays).toEqual([1, 2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1, 5])
  })

  test('that fire early are set again', () => {
    const clock = new TestClock(-0.5)
    const alarm = new Alarm(clock)
    const woken: number[] = []
    alarm.set(new Dozer(() => woken.push(clock.now())), 10)
    clock.advance(9.9)
    expect(woken).toEqual([])
    clock.advance(2)
    expect(woken).toEqual([10])
    expect(clock.delays).toEqual([10, 1])
  })

  test('are not set anew for one who sleeps longer than the first', () => {
    const clock = new TestClock()
    const alarm = new Alarm(clock)
    for (const atMs of [5, 6, 7]) alarm.set(new Dozer(() => {}), atMs)
    expect(clock.delays).toEqual([5])
  })

  test('are not set for times that have come', () => {
    const clock = new TestClock()
    clock.advance(100)
    const alarm = new Alarm(clock)
    let woken = 0
    alarm.set(new Dozer(() => woken++), 50)
    expect(clock.delays).toEqual([0])
    clock.advance(0)
    expect(woken).toBe(1)
  })
})

test('whoever is woken may sleep again, put others to sleep, and wake others up', () => {
  const clock = new TestClock()
  const alarm = new Alarm(clock)
  const woken: string[] = []
  const other: Dozer = new Dozer(() => woken.push(`other@${clock.now()}`))
  const idle: Dozer = new Dozer(() => woken.push('idle'))
  let times = 0
  const again: Dozer = new Dozer(() => {
    woken.push(`again@${clock.now()}`)
    alarm.clear(idle)
    alarm.set(other, clock.now())
    if (++times < 3) alarm.set(again, clock.now() + 10)
  })
  alarm.set(idle, 10)
  alarm.set(again, 10)
  alarm.clear(idle)
  alarm.set(idle, 15)
  clock.advance(100)
  expect(woken).toEqual(['again@10', 'other@10', 'again@20', 'other@20', 'again@30', 'other@30'])
  expect(clock.timers).toBe(0)
})

test('one who fails does not keep the others asleep', () => {
  const clock = new TestClock()
  const alarm = new Alarm(clock)
  const woken: string[] = []
  alarm.set(
    new Dozer(() => {
      throw new Error('mistake')
    }),
    10,
  )
  alarm.set(new Dozer(() => woken.push('same time')), 10)
  alarm.set(new Dozer(() => woken.push('later')), 20)
  expect(() => clock.advance(10)).toThrow('mistake')
  clock.advance(10)
  expect(woken).toEqual(['same time', 'later'])
})
