/** What was learned of a host from its answers; plain JSON. Times are milliseconds on the pacer's clock. */
export interface Learned {
  readonly gap?: LearnedGap | undefined
  readonly published?: readonly PublishedLimit[] | undefined
}

/** The gap between two requests, by what the host can bear as far as one can see. */
export interface LearnedGap {
  /** Milliseconds between two requests; 0 for none. */
  readonly gapMs: number
  /** The gap at which the host last complained, and when; it stays at twice that until it is forgotten. */
  readonly refusedMs?: number | undefined
  readonly refusedAtMs?: number | undefined
  /** When it was last looked at. */
  readonly learnedAtMs: number
  /** From what it was last learned, for people. */
  readonly reason: string
}

/** One limit as the host last published it. */
export interface PublishedLimit {
  readonly name?: string | undefined
  readonly limit?: number | undefined
  /** What was left after all that had departed. */
  readonly remaining?: number | undefined
  readonly resetAtMs?: number | undefined
  readonly windowMs?: number | undefined
  /** When the request left whose answer told. */
  readonly departedAtMs: number
}

/** How long a complaint is remembered. */
export const forgivenAfterMs = 1_800_000

/** When nothing of what was learned matters any more. */
export function forgottenAtMs({ gap, published = [] }: Learned): number {
  const gapMs = gap === undefined ? Number.NEGATIVE_INFINITY : (gap.refusedAtMs ?? gap.learnedAtMs) + forgivenAfterMs
  return Math.max(gapMs, ...published.map(({ resetAtMs }) => resetAtMs ?? Number.NEGATIVE_INFINITY))
}

/** The same on a clock that is `byMs` ahead. */
export function shiftLearned({ gap, published }: Learned, byMs: number): Learned {
  return {
    ...(gap && { gap: { ...gap, ...shifted(gap, 'refusedAtMs', byMs), learnedAtMs: gap.learnedAtMs + byMs } }),
    ...(published && {
      published: published.map((limit) => ({
        ...limit,
        ...shifted(limit, 'resetAtMs', byMs),
        departedAtMs: limit.departedAtMs + byMs,
      })),
    }),
  }
}

function shifted<K extends string>(times: { readonly [name in K]?: number | undefined }, name: K, byMs: number) {
  const atMs = times[name]
  return atMs === undefined ? undefined : { [name]: atMs + byMs }
}
