/** One request as the server saw it. Times are milliseconds since 1970. */
export interface Arrival {
  readonly id: number
  readonly cost: number
  readonly atMs: number
  /** How much before `atMs` it may have arrived: the server's process was held up. */
  lateMs: number
  /** How long before `atMs` the client may have begun it: the client's process was held up. */
  heldUpMs: number
  /** When the server was done with it: it has answered, or the connection is gone. */
  endMs: number
}

/** What the server is to be. */
export interface ServerPlan {
  readonly seed: number
  readonly names: readonly string[]
  /** Those among them that clients may be redirected to that cannot tell when they write. */
  readonly blind: readonly string[]
}

/** Where each origin is, by name; `probe` is one more that answers with the time at which it was asked. */
export interface ServerReady {
  readonly urls: Readonly<Record<string, string>>
}

/** What has arrived, by the name of the origin and in the order of arrival. */
export type ServerLog = Readonly<Record<string, readonly Arrival[]>>
