import { createHash } from 'node:crypto'
import type { Limits } from '@hostpace/core/stores'
import { quotasOf } from './layer-list.ts'

const names = new WeakMap<Limits, string>()

/**
 * The keys of one host. All have the same hash tag, so that they stand on the same node of a cluster, while those of
 * different hosts spread.
 */
export class LedgerKeys {
  /** The key of what the host has said, whatever the policy. */
  readonly host: string
  readonly #base: string

  constructor(prefix: string, key: string) {
    this.#base = `${prefix}{${hashTag(key)}}`
    this.host = `${this.#base}:host`
  }

  /** The key of the state under these limits, then one per exact quota. */
  of(limits: Limits): string[] {
    const state = `${this.#base}:${nameOf(limits)}`
    return [state, ...quotasOf(limits).flatMap((rule, index) => (rule === 'log' ? [`${state}:${index}`] : []))]
  }
}

/** What stands between braces must not be empty and has none of its own. */
function hashTag(key: string): string {
  return key.replace(/[%{}]/g, encodeURIComponent) || '%'
}

/** Policies with the same credit have the same name in every process. */
function nameOf(limits: Limits): string {
  const known = names.get(limits)
  if (known !== undefined) return known
  const name = createHash('sha256').update(limits.creditName).digest('base64url').slice(0, 16)
  names.set(limits, name)
  return name
}
