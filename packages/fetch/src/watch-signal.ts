const watches = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `listener` when the signal is aborted, with one listener for all who watch the same signal: platforms take
 * more than a few for a leak and warn.
 *
 * @returns what ends the watch; when the last has ended nothing stays behind on the signal
 */
export function watchSignal(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {}
  const listeners = watches.get(signal) ?? new Set()
  watches.set(signal, listeners)
  if (listeners.size === 0) signal.addEventListener('abort', tellAll)
  listeners.add(listener)
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) signal.removeEventListener('abort', tellAll)
  }
}

function tellAll({ target }: Event): void {
  for (const listener of watches.get(target as AbortSignal) ?? []) listener()
}
