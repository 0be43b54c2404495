import { HostLimiter, type Policy, PolicyError } from '@hostpace/core'
import { CliError } from './errors.ts'
import { readPolicyDocument } from './policy-document.ts'

/** A policy and what to call it. */
export interface NamedPolicy {
  readonly name: string
  readonly policy: Policy
}

/**
 * Reads policies of one host each. One that stands on the command line without a name is called by its number, `policy 2`.
 *
 * @param args files or JSON, each with a name and `=` before it if it is to be called something else
 * @throws {InputError} that names the line and the column of what is no JSON or no policy
 * @throws {CliError} if a policy declares nothing by which requests could be paced, or if two have one name
 */
export async function readPolicies(args: readonly string[]): Promise<NamedPolicy[]> {
  const policies = await Promise.all(args.map(readPolicy))
  const names = policies.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice === undefined) return policies
  throw new CliError(`two policies are called '${twice}'; name= in front gives another name`)
}

async function readPolicy(argument: string, index: number): Promise<NamedPolicy> {
  const { name = `policy ${index + 1}`, file, read } = await readPolicyDocument(argument)
  const { policy } = read((value) => new HostLimiter(policyOfOneHost(value)))
  if (!declaresPace(policy)) throw nothingToGoBy(file)
  return { name, policy }
}

/** What has policies for several hosts is right for `createPacer` and an audit, so it is told why it is not here. */
function policyOfOneHost(value: unknown): Policy {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'hosts')) return value as Policy
  throw new PolicyError('policy.hosts', 'is for several hosts: give the policy of one')
}

/** Whether a policy has a rule by which requests are paced. */
export function declaresPace({ intervalMs, rate, quotas = [] }: Policy): boolean {
  return intervalMs !== undefined || rate !== undefined || quotas.length > 0
}

export function nothingToGoBy(file: string): CliError {
  return new CliError(`${file} declares no intervalMs, no rate and no quotas, so there is nothing to go by`)
}
