import * as core from '@hostpace/core'
import { expect, test } from 'vitest'

const makers: Readonly<Record<string, () => Error>> = {
  QueueFullError: () => new core.QueueFullError(5),
  WaitTooLongError: () => new core.WaitTooLongError('https://a.example', 10, 5, 'interval'),
  PacerClosedError: () => new core.PacerClosedError(),
  RateLimitedError: () => new core.RateLimitedError('https://a.example', 10, 'interval'),
  StoreError: () => new core.StoreError('It is gone'),
  PolicyError: () => new core.PolicyError('rate', 'makes no sense'),
}

test.each(Object.entries(makers))('%s keeps its name where a bundler has shortened that of its class', (name, make) => {
  const Class = make().constructor
  Object.defineProperty(Class, 'name', { value: 'a' })
  try {
    expect(make().name).toBe(name)
    expect(make().stack).toMatch(new RegExp(`^${name}: `))
  } finally {
    Object.defineProperty(Class, 'name', { value: name })
  }
})
