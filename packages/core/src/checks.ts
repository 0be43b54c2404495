import { PolicyError } from './errors.ts'

/** Times and counts beyond this are mistakes, and arithmetic with them loses whole units. */
const most = Number.MAX_SAFE_INTEGER

/** Refuses anything but a number above 0 and of 2^53 - 1 at most. */
export function positiveNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && value > 0 && value <= most) return value
  throw new PolicyError(path, `must be a finite number above 0 and at most ${most}, got ${show(value)}`)
}

/** Refuses anything but a finite number of 0 or more. */
export function nonNegativeNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new PolicyError(path, `must be a finite number of 0 or more, got ${show(value)}`)
}

/** Refuses anything but a number from 1 to 2^53 - 1. */
export function atLeastOne(value: unknown, path: string): number {
  if (typeof value === 'number' && value >= 1 && value <= most) return value
  throw new PolicyError(path, `must be a finite number of 1 or more and at most ${most}, got ${show(value)}`)
}

/** Refuses anything but a whole number of 1 or more. */
export function wholeNumber(value: unknown, path: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number
  throw new PolicyError(path, `must be a whole number of 1 or more, got ${show(value)}`)
}

/** Refuses anything but one of `choices`. */
export function oneOf<T extends string>(value: unknown, choices: readonly T[], path: string): T {
  if (choices.includes(value as T)) return value as T
  throw new PolicyError(path, `must be one of ${choices.map((c) => `'${c}'`).join(', ')}, got ${show(value)}`)
}

/** Refuses anything but a plain object: what a `Map` or the prototype of a class holds would be overlooked. */
export function plainObject(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const prototype: unknown = Object.getPrototypeOf(value)
    // A plain object of another realm has that realm's prototype.
    if (prototype === null || Object.getPrototypeOf(prototype) === null) return value as Record<string, unknown>
  }
  throw new PolicyError(path, `must be a plain object, got ${show(value)}`)
}

/** Refuses anything but a plain object with no other fields than `known`. @returns a copy */
export function plainFields(value: unknown, known: readonly string[], path: string): Record<string, unknown> {
  const fields = { ...plainObject(value, path) }
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) {
      throw new PolicyError(`${path}.${name}`, `is unknown; known here are ${known.join(', ')}`)
    }
  }
  return fields
}

/** Refuses anything but an object, of whatever class. */
export function anyObject(value: unknown, path: string): object {
  if (typeof value === 'object' && value !== null) return value
  throw new PolicyError(path, `must be an object, got ${show(value)}`)
}

/** Refuses anything but a function. */
export function aFunction(value: unknown, path: string): void {
  if (typeof value !== 'function') throw new PolicyError(path, `must be a function, got ${show(value)}`)
}

/** Refuses a cost that is not a whole number, or that could never leave at once. */
export function checkCost(cost: number, maxCost: number): void {
  if (wholeNumber(cost, 'cost') > maxCost) throw costError(cost, maxCost)
}

/** The error of a request that would never leave. */
export function costError(cost: number, maxCost: number): PolicyError {
  return new PolicyError('cost', `of ${cost} is more than can ever leave at once (${maxCost})`)
}

/** As much of a text as one reads in a message. */
const mostShown = 200

/** A value as a person would write it, for errors that refuse it. */
export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > mostShown ? `'${value.slice(0, mostShown)}'...` : `'${value}'`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return `an object${classOf(value)}`
  return typeof value === 'function' ? 'a function' : String(value)
}

function classOf(value: object): string {
  const name: unknown = value.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? ` of class ${name}` : ''
}
