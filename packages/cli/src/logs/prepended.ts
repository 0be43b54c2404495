/** What was taken off a sequence to look at it, and then the rest of it. */
export async function* prepended<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}
