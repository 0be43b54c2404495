import { createPacer, type PacerOptions, type Policy } from '@hostpace/core'
import { CliError } from './errors.ts'
import { hostOf } from './logs/hosts.ts'
import { readPolicyDocument } from './policy-document.ts'
import { declaresPace, nothingToGoBy } from './read-policy.ts'

/** The policy of a host as a log names it; of one that it does not name, what is declared for all. */
export type HostPolicies = (host: string | undefined) => Policy

/** A host that nobody has a policy for (RFC 2606). */
const anyOther = 'https://host.invalid'

/**
 * Reads what `createPacer` takes: a policy for all hosts, and in `hosts` those of single ones, which are laid over it.
 *
 * A log does not tell `http` from `https`, so both are one host here.
 *
 * @param argument a file or JSON
 * @throws {InputError} that names the line and the column of what is no JSON or no policy
 * @throws {CliError} if nothing is declared by which requests could be paced, or if one host has two policies
 */
export async function readHostPolicies(argument: string): Promise<HostPolicies> {
  const { file, read } = await readPolicyDocument(argument)
  const [pacer, hosts] = read((value) => [createPacer(value as PacerOptions), (value as PacerOptions).hosts ?? {}])
  const policyOf = async (url: string): Promise<Policy> => (await pacer.explain(url)).policy
  const byHost = new Map<string, Policy>()
  for (const name of Object.keys(hosts)) {
    const host = hostOf(name)
    // A log names no sockets.
    if (host === undefined) continue
    if (byHost.has(host))
      throw new CliError(`${file} has two policies for ${host}, and a log does not tell which counts`)
    byHost.set(host, await policyOf(name.includes('://') ? name : `https://${name}`))
  }
  const general = await policyOf(anyOther)
  await pacer.close()
  if (![general, ...byHost.values()].some(declaresPace)) throw nothingToGoBy(file)
  return (host) => (host === undefined ? undefined : byHost.get(host)) ?? general
}
