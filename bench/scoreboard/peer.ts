/** What a host has declared: one request per interval, or so many in any window. */
export type Limits = { readonly intervalMs: number } | { readonly limit: number; readonly windowMs: number }

/** Something that not every limiter has. */
export type Need = 'shared credit'

/** Where processes may keep what they share. */
export interface SharedPlace {
  /** A file that nobody has made yet. */
  readonly path: string
  /** A Redis server of this machine, if one could be started. */
  readonly redisPort: number | undefined
}

/** What a program of a situation asks of its HTTP client. */
export interface Setup {
  /** What each host has declared, by origin. */
  readonly hosts: Readonly<Record<string, Limits>>
  /** Whether the client repeats what was refused, as its own retry does it. */
  readonly retries: boolean
  /** Whether the client has its cache. */
  readonly caches: boolean
  /** Given where processes share the credit. */
  readonly shared: SharedPlace | undefined
}

/** An HTTP client that is kept to the limits of its setup. */
export interface Client {
  get(url: string, options?: { readonly signal?: AbortSignal }): Promise<unknown>
}

/** A limiter, used with the client that its users have, and as its README says. */
export interface Peer {
  /** As the package is called. */
  readonly name: string
  /** What it has no way to do, and why. */
  cannot(need: Need, redisPort: number | undefined): string | undefined
  open(setup: Setup): Client
}
