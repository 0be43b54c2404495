import type { Pacer, Permit } from '@hostpace/core'
import type { DispatchOptions } from './dispatch.ts'

/**
 * Where the options of a dispatch carry what pacers outside have granted, for the pacers further inside.
 * It is registered, so that two copies of this package know each other's.
 */
export const grantsKey: unique symbol = Symbol.for('hostpace.undici.grants') as never

/** A permit on its way inwards, and what has become of it. */
export interface Grant {
  readonly pacer: Pacer
  readonly permit: Permit
  /** When the request was written, in milliseconds of `performance.now()`. */
  sentAtMs: number | undefined
  /** Somebody further inside tells when the request is written. */
  isSentInside: boolean
  /** The same pacer is composed once more further inside, and all the rest is up to that. */
  isTaken: boolean
}

/**
 * Takes over what the same pacer granted further outside, if it did so for this very hop. A redirect or a
 * retry in between comes with the options of the hop before, whose grant has been taken already.
 */
export function takeGrant(options: DispatchOptions, pacer: Pacer): Permit | undefined {
  const grant = options[grantsKey]?.find((grant) => grant.pacer === pacer && !grant.isTaken)
  if (grant !== undefined) grant.isTaken = true
  return grant?.permit
}

/** Options for those further inside: `grant` in place of what this pacer granted before, and the body as they are to send it. */
export function withGrant(options: DispatchOptions, grant: Grant, body: unknown): DispatchOptions {
  const others = options[grantsKey]?.filter(({ pacer }) => pacer !== grant.pacer) ?? []
  // A spread takes twenty times as long.
  const passed: { -readonly [Key in keyof DispatchOptions]: DispatchOptions[Key] } = Object.assign({}, options)
  passed[grantsKey] = [...others, grant]
  if (body !== options.body) passed.body = body
  return passed
}

/** Says that whoever has got these options will tell when the request is written. */
export function promiseSent(options: DispatchOptions): void {
  for (const grant of options[grantsKey] ?? []) grant.isSentInside = true
}

/** Tells the pacers of these grants that the request is written. */
export function tellSent(grants: readonly Grant[] = []): void {
  const nowMs = performance.now()
  for (const grant of grants) {
    grant.sentAtMs ??= nowMs
    grant.permit.sent()
  }
}
