import { oneOf, plainFields, show } from '../checks.ts'
import { PolicyError } from '../errors.ts'

const units = ['s', 'ms', 'epoch-s', 'epoch-ms'] as const

/** What is known of the headers of a host whose unit cannot be told, or whose names are unusual; plain JSON. */
export interface HeaderHints {
  /** How the number in the reset header is meant: time left, or a moment. @default told by its magnitude */
  readonly reset?: (typeof units)[number]
  /** The names of the headers, in any case. @default those of the `X-RateLimit-*` family */
  readonly names?: HeaderNames
}

/** Which headers tell of a limit. */
export interface HeaderNames {
  readonly limit?: string
  readonly remaining?: string
  readonly reset?: string
}

/** Refuses what are no hints, and names the field. */
export function checkHeaderHints(value: unknown, path: string): void {
  const { reset, names } = plainFields(value, ['reset', 'names'], path)
  if (reset !== undefined) oneOf(reset, units, `${path}.reset`)
  if (names === undefined) return
  const fields = plainFields(names, ['limit', 'remaining', 'reset'], `${path}.names`)
  for (const [name, header] of Object.entries(fields)) {
    if (typeof header === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(header)) continue
    throw new PolicyError(`${path}.names.${name}`, `must be the name of a header, got ${show(header)}`)
  }
}
