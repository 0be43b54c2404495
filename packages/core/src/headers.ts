import type { HeaderCarrier } from './permit.ts'

/** Headers by their names in lower case; several lines of one name are joined by commas, as HTTP has it. */
export type HeaderEntries = ReadonlyMap<string, string>

/**
 * Those headers whose names are wanted, of whatever carries headers; names in any case. Malformed carriers have none.
 *
 * It runs once for each answer, so it looks at each name once and at no value that is not wanted.
 */
export function headerEntries(headers: HeaderCarrier | undefined, isWanted: (name: string) => boolean): HeaderEntries {
  const entries = new Map<string, string>()
  const put = (name: unknown, value: unknown) => {
    const key = text(name).toLowerCase()
    if (!isWanted(key) || value === undefined || value === null) return
    const line = Array.isArray(value) ? value.map(text).join(', ') : text(value)
    const before = entries.get(key)
    if (!Array.isArray(value) || value.length > 0) entries.set(key, before === undefined ? line : `${before}, ${line}`)
  }
  try {
    putAll(headers, put)
  } catch {
    entries.clear()
  }
  return entries
}

function putAll(headers: HeaderCarrier | undefined, put: (name: unknown, value: unknown) => void): void {
  if (headers === undefined || headers === null) return
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    // `[name, value, name, value, ...]`, as node:http and undici have them, also as bytes.
    for (let index = 0; index < headers.length; index += 2) put(headers[index], headers[index + 1])
  } else if (typeof (headers as { [Symbol.iterator]?: unknown })[Symbol.iterator] === 'function') {
    for (const [name, value] of headers as Iterable<[unknown, unknown]>) put(name, value)
  } else {
    for (const name of Object.keys(headers)) put(name, (headers as Record<string, unknown>)[name])
  }
}

function text(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  // Buffers are read many times faster by their own means.
  const { latin1Slice } = value as { latin1Slice?: () => string }
  return latin1Slice === undefined ? String.fromCharCode(...value) : latin1Slice.call(value)
}
