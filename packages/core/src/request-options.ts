import { plainFields, show, wholeNumber } from './checks.ts'
import { PolicyError } from './errors.ts'
import type { WaitOptions } from './pacer-options.ts'
import { checkKey, checkSharedOptions } from './waiter.ts'

/** What users may say of one request to an adapter, in the place where their client takes options. */
export interface RequestOptions extends Pick<WaitOptions, 'cost' | 'priority' | 'maxWaitMs' | 'key' | 'reservation'> {
  /** Sends this request without pacing it. @default false */
  skip?: boolean | undefined
}

const names: readonly (keyof RequestOptions)[] = ['cost', 'priority', 'maxWaitMs', 'key', 'reservation', 'skip']

/**
 * For adapters: what a caller says of a request, where the client takes it.
 *
 * @param hostpace what stands there; `undefined` says nothing
 * @throws {PolicyError} if that is no object, has a field that is unknown, or one that makes no sense; its `path` names it.
 *   Only `wait` can tell whether `cost` is more than the host ever lets go at once
 */
export function readRequestOptions(hostpace: unknown): RequestOptions {
  if (hostpace === undefined) return {}
  const options: RequestOptions = plainFields(hostpace, names, 'hostpace')
  const { skip, cost, key } = options
  if (cost !== undefined) wholeNumber(cost, 'hostpace.cost')
  if (key !== undefined) checkKey(key, 'hostpace.key')
  checkSharedOptions(options, 'hostpace.')
  if (skip === undefined || typeof skip === 'boolean') return options
  throw new PolicyError('hostpace.skip', `must be true or false, got ${show(skip)}`)
}
