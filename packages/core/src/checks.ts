import { PolicyError } from './errors.ts'

/** Refuses anything but a finite number above 0. */
export function positiveNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  throw new PolicyError(path, `must be a finite number above 0, got ${show(value)}`)
}

/** Refuses anything but a finite number of 0 or more. */
export function nonNegativeNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
  throw new PolicyError(path, `must be a finite number of 0 or more, got ${show(value)}`)
}

/** Refuses anything but a finite number of 1 or more. */
export function atLeastOne(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 1) return value
  throw new PolicyError(path, `must be a finite number of 1 or more, got ${show(value)}`)
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

/** Refuses anything but an object with no other keys than `known`. */
export function plainObject(value: unknown, known: readonly string[], path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PolicyError(path, `must be an object, got ${show(value)}`)
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      throw new PolicyError(`${path}.${name}`, `is unknown; known here are ${known.join(', ')}`)
    }
  }
  return value as Record<string, unknown>
}

/** Refuses a cost that is not a whole number, or that could never leave at once. */
export function checkCost(cost: number, maxCost: number): void {
  if (wholeNumber(cost, 'cost') > maxCost) throw costError(cost, maxCost)
}

/** The error of a request that would never leave. */
export function costError(cost: number, maxCost: number): PolicyError {
  return new PolicyError('cost', `of ${cost} is more than can ever leave at once (${maxCost})`)
}

/** A value as a person would write it. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
