import { HostLimiter, type Policy } from '@hostpace/core'
import { CliError } from './errors.ts'
import { readPolicyDocument } from './policy-document.ts'

/** A policy and what to call it. */
export interface NamedPolicy {
  readonly name: string
  readonly policy: Policy
}

/**
 * Reads the policy of one host.
 *
 * @param argument a file or JSON, with a name and `=` before it if it is to be called something else
 * @throws {InputError} that names the line and the column of what is no JSON or no policy
 * @throws {CliError} if the policy declares nothing by which requests could be paced
 */
export async function readPolicy(argument: string): Promise<NamedPolicy> {
  const { name, file, read } = await readPolicyDocument(argument)
  const { policy } = read((value) => new HostLimiter(value as Policy))
  if (!declaresPace(policy)) throw nothingToGoBy(file)
  return { name, policy }
}

/** Whether a policy has a rule by which requests are paced. */
export function declaresPace({ intervalMs, rate, quotas = [] }: Policy): boolean {
  return intervalMs !== undefined || rate !== undefined || quotas.length > 0
}

export function nothingToGoBy(file: string): CliError {
  return new CliError(`${file} declares no intervalMs, no rate and no quotas, so there is nothing to go by`)
}
