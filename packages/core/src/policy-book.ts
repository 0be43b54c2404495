import { aFunction, atLeastOne, plainFields, plainObject, positiveNumber, show } from './checks.ts'
import { PolicyError } from './errors.ts'
import type { GapRules } from './learning/gap.ts'
import { fingerprintOf, Limits } from './limits.ts'
import type { KeyFinder } from './origin.ts'
import type { PacerOptions } from './pacer-options.ts'
import { checkPolicy, mergePolicies, type Policy, policyFields } from './policy.ts'
import type { PolicyLookup } from './policy-lookup.ts'
import { warnAboutPolicy } from './policy-warnings.ts'
import { answerOf } from './stores/store.ts'

/** Where a part of a policy came from. */
export type PolicySource = 'all hosts' | 'policyFor' | 'hosts' | 'update' | 'unknown host'

const defaultRules: GapRules = {
  startIntervalMs: 1000,
  minIntervalMs: 10,
  maxIntervalMs: 60_000,
  targetConcurrency: 1,
  latency: false,
}

/** How many different policies are kept ready; forgetting all is simple, and cheap enough at once per so many. */
const mostReadyLimits = 10_000

/** Knows which policy applies to which host, and where each part of it came from. */
export class PolicyBook {
  /** By which gaps are learned. */
  readonly rules: GapRules
  #general: Policy
  readonly #hosts = new Map<string, Policy>()
  readonly #updates = new Map<string, Policy>()
  readonly #policyFor: PacerOptions['policyFor']
  /** What `policyFor` gave. */
  readonly #found = new Map<string, Policy>()
  /** Ready-made limits by fingerprint, so that equal policies share their layers. */
  readonly #limits = new Map<string, Limits>()

  /** @throws {PolicyError} if an option makes no sense */
  constructor(options: PacerOptions, keys: KeyFinder) {
    const { hosts = {}, policyFor, adapt = true } = options
    this.#general = checkPolicy(policyAmong(options), 'options')
    if (policyFor !== undefined) aFunction(policyFor, 'options.policyFor')
    this.#policyFor = policyFor
    this.rules = rulesOf(adapt)
    this.#warnEarly('options')
    for (const [host, policy] of Object.entries(plainObject(hosts, 'options.hosts'))) {
      const path = `hosts[${JSON.stringify(host)}]`
      const key = keys.configuredKey(host, path)
      if (this.#hosts.has(key)) throw new PolicyError(path, `is the same host as another one here, ${key}`)
      this.#hosts.set(key, checkPolicy(policy, path))
      this.#warnEarly(path, key)
    }
  }

  /** The limits of a host, at once or, where they are looked up, later. */
  limitsOf(key: string, lookup: () => PolicyLookup): Limits | Promise<Limits> {
    return this.#policyFor === undefined || this.#found.has(key) ? this.knownLimitsOf(key) : this.lookUp(key, lookup())
  }

  /** The limits of a host by what is known of it without a look-up. */
  knownLimitsOf(key: string): Limits {
    return this.#assemble(key)
  }

  /** The same limits with layers for what is learned. */
  learning(limits: Limits): Limits {
    if (limits.learns) return limits
    const name = `${limits.fingerprint} and what is learned`
    return this.#limits.get(name) ?? this.#keep(name, limits.learning())
  }

  /** Looks up the limits of a host, even if they have been before. */
  lookUp(key: string, lookup: PolicyLookup): Limits | Promise<Limits> {
    const limits = answerOf(() => {
      const found = this.#policyFor?.(key, lookup)
      if (!isThenable(found)) return this.#accept(key, found)
      return Promise.resolve(found).then((policy) => this.#accept(key, policy))
    })
    return limits instanceof Promise ? limits.catch((error) => Promise.reject(withHost(error, key))) : limits
  }

  /** Lays a policy over what applies to a host, or to all hosts. */
  update(key: string | undefined, policy: Policy): void {
    const path = key === undefined ? 'policy' : `policy of ${key}`
    if (key === undefined) this.#general = mergePolicies(this.#general, checkPolicy(policy, path))
    else this.#updates.set(key, mergePolicies(this.#updates.get(key) ?? {}, checkPolicy(policy, path)))
    this.#warnEarly(path, key)
  }

  /** Where a field of a host's policy came from. */
  sourceOf(key: string, field: keyof Policy): PolicySource {
    const value = this.#assemble(key).policy[field]
    if (value === undefined) return 'unknown host'
    if (this.#updates.get(key)?.[field] === value) return 'update'
    if (this.#hosts.get(key)?.[field] === value) return 'hosts'
    return this.#found.get(key)?.[field] === value ? 'policyFor' : 'all hosts'
  }

  /** Forgets what was looked up for a host. */
  forget(key: string): void {
    this.#found.delete(key)
  }

  #accept(key: string, found: Policy | undefined): Limits {
    this.#found.set(key, found === undefined ? {} : checkPolicy(found, pathOf(key)))
    return this.#assemble(key)
  }

  /** Makes a policy ready, which warns of it, before it is asked for; where hosts are looked up it is not complete yet. */
  #warnEarly(path: string, key?: string): void {
    if (this.#policyFor !== undefined) return
    if (key === undefined) this.#intern(this.#general, path)
    else this.#assemble(key, path)
  }

  #assemble(key: string, path = `policy of ${key}`): Limits {
    const configured = mergePolicies(this.#general, this.#hosts.get(key) ?? {})
    const found = this.#found.get(key)
    const policy = found === undefined ? configured : withFound(configured, found, this.#hosts.get(key) ?? {})
    return this.#intern(mergePolicies(policy, this.#updates.get(key) ?? {}), path)
  }

  #intern(policy: Policy, path: string): Limits {
    const fingerprint = fingerprintOf(policy, this.rules.startIntervalMs)
    const known = this.#limits.get(fingerprint)
    if (known !== undefined) return known
    warnAboutPolicy(policy, path)
    return this.#keep(fingerprint, new Limits(policy, this.rules.startIntervalMs))
  }

  #keep(name: string, limits: Limits): Limits {
    if (this.#limits.size >= mostReadyLimits) this.#limits.clear()
    this.#limits.set(name, limits)
    return limits
  }
}

/**
 * Puts what was looked up between what applies to all hosts and what is written for this one. It never
 * shortens a configured interval.
 */
function withFound(configured: Policy, found: Policy, own: Policy): Policy {
  const merged = mergePolicies(mergePolicies(configured, found), own)
  const intervalMs = Math.max(configured.intervalMs ?? 0, found.intervalMs ?? 0)
  return intervalMs > 0 ? { ...merged, intervalMs } : merged
}

function pathOf(key: string): string {
  return `policyFor(${JSON.stringify(key)})`
}

/** A mistake in a policy says for which host it was made; other errors pass as they are. */
function withHost(error: unknown, key: string): unknown {
  const path = pathOf(key)
  if (!(error instanceof PolicyError) || error.path.startsWith(path)) return error
  return new PolicyError(path, `failed: ${error.message}`, { cause: error })
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function'
}

/** Refuses what are no options of a pacer, or have a field that is unknown. @returns a copy */
export function checkPacerOptions(options: unknown): PacerOptions {
  return plainFields(options, [...policyFields, ...otherOptions], 'options')
}

const otherOptions = ['hosts', 'policyFor', 'keyBy', 'store', 'adapt', 'clock']

/** The fields among the options that are those of a policy. */
function policyAmong(options: PacerOptions): Policy {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !otherOptions.includes(name)))
}

function rulesOf(adapt: NonNullable<PacerOptions['adapt']>): GapRules {
  if (typeof adapt === 'boolean') return defaultRules
  const path = 'options.adapt'
  if (typeof adapt !== 'object') throw new PolicyError(path, `must be true, false or an object, got ${show(adapt)}`)
  const given = plainFields(adapt, Object.keys(defaultRules), path)
  const rules = { ...defaultRules, ...given }
  atLeastOne(rules.startIntervalMs, `${path}.startIntervalMs`)
  atLeastOne(rules.minIntervalMs, `${path}.minIntervalMs`)
  atLeastOne(rules.maxIntervalMs, `${path}.maxIntervalMs`)
  positiveNumber(rules.targetConcurrency, `${path}.targetConcurrency`)
  if (typeof rules.latency !== 'boolean') {
    throw new PolicyError(`${path}.latency`, `must be true or false, got ${show(rules.latency)}`)
  }
  const { startIntervalMs, minIntervalMs, maxIntervalMs } = rules
  if (minIntervalMs > maxIntervalMs) {
    throw given.minIntervalMs === undefined
      ? new PolicyError(
          `${path}.maxIntervalMs`,
          `must not be below minIntervalMs (${minIntervalMs}), got ${maxIntervalMs}`,
        )
      : new PolicyError(
          `${path}.minIntervalMs`,
          `must not be above maxIntervalMs (${maxIntervalMs}), got ${minIntervalMs}`,
        )
  }
  const nearestMs = Math.min(Math.max(startIntervalMs, minIntervalMs), maxIntervalMs)
  if (given.startIntervalMs !== undefined && nearestMs !== startIntervalMs) {
    const bounds = `minIntervalMs (${minIntervalMs}) to maxIntervalMs (${maxIntervalMs})`
    throw new PolicyError(`${path}.startIntervalMs`, `must be from ${bounds}, got ${startIntervalMs}`)
  }
  return { ...rules, startIntervalMs: nearestMs }
}
