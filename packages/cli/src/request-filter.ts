import { BlockList, isIP } from 'node:net'
import { CliError } from './errors.ts'
import { comparableHost } from './logs/hosts.ts'
import type { LogEntry } from './logs/log-entry.ts'

/** Which requests of a log are looked at. */
export interface FilterOptions {
  readonly host?: string | undefined
  /** An address, or a network such as `192.0.2.0/24` or `2001:db8::/32`. */
  readonly client?: string | undefined
  /** What the user agent has in it, in any case. */
  readonly userAgent?: string | undefined
}

/** @throws {CliError} if `client` is no address and no network */
export function requestFilter({ host, client, userAgent }: FilterOptions): (entry: LogEntry) => boolean {
  const wantedHost = host === undefined ? undefined : comparableHost(host)
  const isWantedClient = client === undefined ? undefined : clientFilter(client)
  const wantedAgent = userAgent?.toLowerCase()
  return (entry) =>
    (wantedHost === undefined || entry.host === wantedHost) &&
    (isWantedClient === undefined || (entry.client !== undefined && isWantedClient(entry.client))) &&
    (wantedAgent === undefined || entry.userAgent?.toLowerCase().includes(wantedAgent) === true)
}

function clientFilter(text: string): (address: string) => boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = familyOf(address)
  const most = family === 'ipv4' ? 32 : 128
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (family === undefined || rest.length > 0 || !(prefix <= most)) {
    throw new CliError(
      `--client must be an address such as 192.0.2.7, or a network such as 2001:db8::/32, got '${text}'`,
    )
  }
  const list = new BlockList()
  list.addSubnet(address, prefix, family)
  return (other) => {
    const otherFamily = familyOf(other)
    return otherFamily !== undefined && list.check(other, otherFamily)
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address) as 0 | 4 | 6
  return version === 0 ? undefined : `ipv${version}`
}
