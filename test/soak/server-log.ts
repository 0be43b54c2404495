/** One request as the server saw it. Times are milliseconds of `machineMs`. */
export interface Arrival {
  readonly id: number
  readonly cost: number
  readonly atMs: number
  /** When the server was done with it: it has answered, or the connection is gone. */
  endMs: number
  /** Whether it has answered to the end. */
  isAnswered: boolean
}

/** What the server is to be. */
export interface ServerPlan {
  readonly seed: number
  readonly names: readonly string[]
  /** Those among them that clients may be redirected to that cannot tell when they write. */
  readonly blind: readonly string[]
}

/** What the server is told. */
export type ServerOrder = ServerPlan | 'connections' | 'stop'

/** Where each origin is, by name; `elsewhere` is one more that just answers. */
export type ServerUrls = Readonly<Record<string, string>>

/** What has arrived, by the name of the origin and in the order of arrival. */
export type ServerLog = Readonly<Record<string, readonly Arrival[]>>
