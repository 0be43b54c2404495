/**
 * Sets properties of an object and returns a function that puts it back as it was.
 *
 * A config is changed in place for as long as its adapter runs, because `response.config` and
 * `error.config` must be the very object that axios made.
 */
export function override<T extends object>(target: T, values: Partial<T>): () => void {
  const before: Partial<T> = {}
  for (const name of Object.keys(values) as (keyof T)[]) if (Object.hasOwn(target, name)) before[name] = target[name]
  Object.assign(target, values)
  return () => {
    for (const name of Object.keys(values)) if (!Object.hasOwn(before, name)) Reflect.deleteProperty(target, name)
    Object.assign(target, before)
  }
}
