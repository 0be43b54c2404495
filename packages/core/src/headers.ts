import type { HeaderCarrier } from './permit.ts'

/**
 * The values of a header in whatever carries headers, one per line that was sent; names in any case.
 * Malformed carriers have none.
 */
export function headerValues(headers: HeaderCarrier | undefined, name: string): string[] {
  try {
    return valuesIn(headers, name)
  } catch {
    return []
  }
}

function valuesIn(headers: HeaderCarrier | undefined, name: string): string[] {
  if (headers === undefined || headers === null) return []
  if (Array.isArray(headers)) return fromPairs(headers, name)
  if (typeof (headers as { get?: unknown }).get === 'function') {
    return present((headers as { get(name: string): unknown }).get(name))
  }
  return Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? present(value) : []))
}

/** `[[name, value], ...]`, or `[name, value, name, value, ...]` as node:http and undici have them, also as bytes. */
function fromPairs(headers: readonly unknown[], name: string): string[] {
  if (Array.isArray(headers[0])) {
    return (headers as unknown[][]).flatMap(([key, value]) => (text(key).toLowerCase() === name ? present(value) : []))
  }
  return headers.flatMap((key, index) =>
    index % 2 === 0 && text(key).toLowerCase() === name ? present(headers[index + 1]) : [],
  )
}

function present(value: unknown): string[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value.map(text) : [text(value)]
}

function text(value: unknown): string {
  return value instanceof Uint8Array ? String.fromCharCode(...value) : String(value)
}

/** Headers by their names in lower case; several lines of one name are joined by commas, as HTTP has it. */
export type HeaderEntries = ReadonlyMap<string, string>

/** Those headers, of whatever carries headers, whose names are wanted. Malformed carriers have none. */
export function headerEntries(headers: HeaderCarrier | undefined, isWanted: (name: string) => boolean): HeaderEntries {
  const entries = new Map<string, string>()
  try {
    for (const [name, value] of pairsOf(headers)) {
      const key = text(name).toLowerCase()
      if (!isWanted(key)) continue
      const lines = present(value)
      const before = entries.get(key)
      if (lines.length > 0) entries.set(key, [...(before === undefined ? [] : [before]), ...lines].join(', '))
    }
  } catch {
    entries.clear()
  }
  return entries
}

function pairsOf(headers: HeaderCarrier | undefined): Iterable<[unknown, unknown]> {
  if (headers === undefined || headers === null) return []
  if (!Array.isArray(headers)) {
    const isIterable = typeof (headers as { [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function'
    return isIterable ? (headers as Iterable<[unknown, unknown]>) : Object.entries(headers)
  }
  if (Array.isArray(headers[0])) return headers as unknown as [unknown, unknown][]
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]] as [unknown, unknown]] : []))
}
