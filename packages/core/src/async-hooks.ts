/** As much of Node's `AsyncLocalStorage` as is used here. */
export interface AsyncContext<T> {
  run<R>(value: T, fn: () => R): R
  getStore(): T | undefined
}

/** As much of Node's `AsyncResource` as is used here: an async context that was kept, to call something in later. */
export interface AsyncScope {
  runInAsyncScope<R>(fn: () => R): R
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new <T>() => AsyncContext<T>
  readonly AsyncResource: new (type: string, options: { requireManualDestroy: boolean }) => AsyncScope
}

let found: { readonly hooks: AsyncHooks | undefined } | undefined

/** Makes a context of our own. `undefined` where the runtime has none. */
export function newAsyncContext<T>(): AsyncContext<T> | undefined {
  const hooks = asyncHooks()
  return hooks && new hooks.AsyncLocalStorage<T>()
}

/**
 * Keeps the async context of whoever calls this: what their loggers and tracers go by. `undefined` where the runtime
 * has none.
 *
 * It is no `AsyncLocalStorage.snapshot()`, which takes two hundred times as long on Node 20.
 */
export function keepScope(): AsyncScope | undefined {
  const hooks = asyncHooks()
  return hooks && new hooks.AsyncResource('HostpaceWait', { requireManualDestroy: true })
}

/** Calls `fn` in the context that was kept, or in the present one if none was. */
export function runIn<R>(scope: AsyncScope | undefined, fn: () => R): R {
  return scope === undefined ? fn() : scope.runInAsyncScope(fn)
}

/** Found rather than imported, so that this package needs nothing of Node. */
function asyncHooks(): AsyncHooks | undefined {
  if (found === undefined) {
    const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } }
    found = { hooks: process?.getBuiltinModule?.('node:async_hooks') as AsyncHooks | undefined }
  }
  return found.hooks
}
