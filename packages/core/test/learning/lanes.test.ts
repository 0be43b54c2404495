import { ManualClock } from '@hostpace/core/testing'
import { expect, test } from 'vitest'
import { createPacer } from '../../src/index.ts'
import { Lanes } from '../../src/learning/lanes.ts'

const key = 'https://a.example'
const make = () => new Lanes(() => createPacer({ clock: new ManualClock() }))

test('a URL is of the resource of the last answer whose path began the same', () => {
  const lanes = make()
  expect(lanes.laneOf(key, `${key}/search/x`)).toBeUndefined()
  const lane = lanes.assign(key, new URL(`${key}/search/code?q=x`), 'search')
  expect(lanes.laneOf(key, `${key}/search`)).toBe(lane)
  expect(lanes.laneOf(key, new URL(`${key}/search/users`))).toBe(lane)
  expect(lanes.laneOf(key, `${key}/searches`)).toBeUndefined()
  expect(lanes.laneOf('https://b.example', 'https://b.example/search')).toBeUndefined()
})

test('who is under way in a lane is counted until nobody is', () => {
  const lanes = make()
  expect(lanes.underWay('lane')).toBe(0)
  for (const left of [1, 2]) {
    lanes.entered('lane')
    expect(lanes.underWay('lane')).toBe(left)
  }
  for (const left of [1, 0, 0]) {
    lanes.left('lane')
    expect(lanes.underWay('lane')).toBe(left)
  }
})

test('of a host no more than 1000 paths are told apart', () => {
  const lanes = make()
  for (let n = 0; n < 1000; n++) lanes.assign(key, `${key}/${n}`, 'x')
  expect(lanes.laneOf(key, `${key}/0`)).toBe(`${key} x`)
  lanes.assign(key, `${key}/1000`, 'x')
  expect(lanes.laneOf(key, `${key}/0`)).toBeUndefined()
  expect(lanes.laneOf(key, `${key}/1000`)).toBe(`${key} x`)
})
