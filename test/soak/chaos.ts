import { Random } from './random.ts'

/** What the server does with one request. */
export type Behaviour =
  | { readonly kind: 'answer'; readonly afterMs: number; readonly size: number }
  | { readonly kind: 'drip'; readonly pieces: number; readonly everyMs: number; readonly size: number }
  | { readonly kind: 'redirect'; readonly status: number; readonly isElsewhere: boolean }
  | { readonly kind: 'refuse'; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly kind: 'reset'; readonly afterMs: number; readonly isHard: boolean }
  | { readonly kind: 'cut'; readonly size: number; readonly hasLength: boolean; readonly isHard: boolean }
  | { readonly kind: 'silence' }

/** After so many, a request is redirected no more: nobody follows for ever. */
const mostRedirects = 3

/**
 * What becomes of the `attempt`th time that the request number `id` arrives, hops and repeats counted alike. It depends
 * on nothing else, so that it is the same in every run with this seed.
 */
export function behaviourOf(seed: number, id: number, attempt: number): Behaviour {
  const random = new Random(seed, id, attempt, 1)
  const size = random.pick([
    [8, random.between(0, 500)],
    [2, random.between(500, 40_000)],
  ])
  return random.pick<Behaviour>([
    [50, { kind: 'answer', afterMs: 0, size }],
    [12, { kind: 'answer', afterMs: random.between(5, 150), size }],
    [10, { kind: 'drip', pieces: random.between(2, 5), everyMs: random.between(2, 25), size }],
    [
      attempt < mostRedirects ? 10 : 0,
      { kind: 'redirect', status: random.one([301, 302, 307, 308]), isElsewhere: random.chance(0.5) },
    ],
    [5, { kind: 'refuse', status: random.one([500, 502, 504]), retryAfter: undefined }],
    // A 429 without Retry-After would hold the host for a minute.
    [2, { kind: 'refuse', status: random.one([429, 503]), retryAfter: random.one(['0', '0', '0.05']) }],
    [0.1, { kind: 'refuse', status: 429, retryAfter: '1' }],
    [4, { kind: 'reset', afterMs: random.one([0, 0, random.between(1, 40)]), isHard: random.chance(0.5) }],
    [4, { kind: 'cut', size: size + 100, hasLength: random.chance(0.5), isHard: random.chance(0.5) }],
    [2, { kind: 'silence' }],
  ])
}

/** The body of a whole answer to the request number `id`. */
export function textFor(id: number, size: number): string {
  return `answer to ${id} ${'.'.repeat(size)} end`
}

/** Whether this is all of an answer to the request number `id`. */
export function isWhole(text: string, id: number): boolean {
  return text.startsWith(`answer to ${id} `) && text.endsWith(' end')
}
