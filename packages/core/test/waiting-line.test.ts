import { expect, test } from 'vitest'
import { type Waiting, WaitingLine } from '../src/waiting-line.ts'
import { range } from './support/pacer-setting.ts'

class Person implements Waiting {
  readonly name: number
  readonly priority: number
  isInLine = false
  next: this | undefined
  previous: this | undefined

  constructor(name: number, priority: number) {
    this.name = name
    this.priority = priority
  }
}

test('is a list sorted by priority and arrival, whoever leaves from anywhere', () => {
  const line = new WaitingLine<Person>()
  let list: Person[] = []
  let state = 7
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  for (const name of range(2000)) {
    if (random(5) < 3 || list.length === 0) {
      const person = new Person(name, random(4) - 2)
      line.add(person)
      const behind = list.findIndex((one) => one.priority < person.priority)
      list.splice(behind < 0 ? list.length : behind, 0, person)
    } else {
      const person = list[random(list.length)] as Person
      line.remove(person)
      expect(person.isInLine).toBe(false)
      list = list.filter((one) => one !== person)
    }
    expect(line.size).toBe(list.length)
    expect(line.head?.name).toBe(list[0]?.name)
    expect([...line].map((person) => person.name)).toEqual(list.map((person) => person.name))
  }
})
