import { plainFields, show } from './checks.ts'
import { PolicyError } from './errors.ts'
import type { WaitOptions } from './pacer-options.ts'

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
 * @throws {PolicyError} if that is no object, has a field that is unknown, or `skip` is neither true nor false; `wait`
 *   looks at the others
 */
export function readRequestOptions(hostpace: unknown): RequestOptions {
  if (hostpace === undefined) return {}
  const options: RequestOptions = plainFields(hostpace, names, 'hostpace')
  const { skip } = options
  if (skip === undefined || typeof skip === 'boolean') return options
  throw new PolicyError('hostpace.skip', `must be true or false, got ${show(skip)}`)
}
