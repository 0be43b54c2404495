import { memoryStore, type Store } from '@hostpace/core'

/**
 * A memory store that answers as one across a network does: later, and one call after another.
 *
 * A departure that is already charged can be taken back as long as no time has gone by, as a shared
 * store can do for a request that gave up while the answer was on its way.
 */
export function asyncStore(inner: Store = memoryStore()): Store {
  let line: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(step: () => T | Promise<T>): Promise<T> => {
    const answer = line.then(step)
    line = answer.catch(() => {})
    return answer
  }
  return {
    hosts: inner.hosts,
    leave: (host, limits, cost, reportsSent, nowMs) =>
      inTurn(async () => takenBack(await inner.leave(host, limits, cost, true, nowMs), reportsSent)),
    retry: (host, limits, slot, reportsSent, nowMs) =>
      inTurn(async () => takenBack(await inner.retry(host, limits, slot, true, nowMs), reportsSent)),
    reserve: (...args) => inTurn(() => inner.reserve(...args)),
    view: (...args) => inTurn(() => inner.view(...args)),
    giveBack: (...args) => void inTurn(() => inner.giveBack(...args)),
    sent: (...args) => void inTurn(() => inner.sent(...args)),
    finish: (...args) => void inTurn(() => inner.finish(...args)),
    pause: (...args) => void inTurn(() => inner.pause(...args)),
    resume: (...args) => void inTurn(() => inner.resume(...args)),
    adopt: (...args) => void inTurn(() => inner.adopt(...args)),
    close: () => inTurn(() => inner.close()),
  }
}

/** One that will not report when it was sent counts as used from now on. */
function takenBack(leave: Awaited<ReturnType<Store['leave']>>, reportsSent: boolean): typeof leave {
  if (leave.kind === 'gone' && leave.slot !== undefined && !reportsSent) leave.slot.held = false
  return leave
}
