import { memoryStore, type Store } from '@hostpace/core'

type Leave = Awaited<ReturnType<Store['leave']>>
type Slot = NonNullable<Extract<Leave, { kind: 'gone' }>['slot']>

/**
 * A memory store that answers as one across a network does: later, and one call after another.
 *
 * A departure can be taken back until the one who asked has had the answer and time to react.
 */
export function asyncStore(inner: Store = memoryStore()): Store {
  /** Departures that nobody will report, while they can still be taken back. */
  const fresh = new Set<Slot>()
  let line: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(step: () => T | Promise<T>): Promise<T> => {
    const answer = line.then(step)
    line = answer.then(
      () => turns(10),
      () => {},
    )
    return answer
  }

  const leave = async (asked: Leave | Promise<Leave>, reportsSent: boolean, charge: (slot: Slot) => void) => {
    const answer = await asked
    if (answer.kind === 'gone' && answer.slot !== undefined && !reportsSent) {
      const { slot } = answer
      fresh.add(slot)
      void inTurn(() => {
        if (fresh.delete(slot)) charge(slot)
      })
    }
    return answer
  }

  return {
    hosts: inner.hosts,
    leave: (host, limits, cost, reportsSent, nowMs, order) =>
      inTurn(() =>
        leave(inner.leave(host, limits, cost, true, nowMs, order), reportsSent, (slot) =>
          inner.sent(host, limits, slot, cost, nowMs),
        ),
      ),
    retry: (host, limits, slot, reportsSent, nowMs) =>
      inTurn(() =>
        leave(inner.retry(host, limits, slot, true, nowMs), reportsSent, (gone) =>
          inner.sent(host, limits, gone, slot.cost, nowMs),
        ),
      ),
    giveBack: (host, limits, slot, nowMs) => {
      if (fresh.delete(slot)) inner.giveBack(host, limits, slot, nowMs)
      else void inTurn(() => inner.giveBack(host, limits, slot, nowMs))
    },
    reserve: (...args) => inTurn(() => inner.reserve(...args)),
    view: (...args) => inTurn(() => inner.view(...args)),
    sent: (...args) => void inTurn(() => inner.sent(...args)),
    finish: (...args) => void inTurn(() => inner.finish(...args)),
    pause: (...args) => void inTurn(() => inner.pause(...args)),
    resume: (...args) => void inTurn(() => inner.resume(...args)),
    learn: (...args) => void inTurn(() => inner.learn(...args)),
    adopt: (...args) => void inTurn(() => inner.adopt(...args)),
    close: () => inTurn(() => inner.close()),
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined
}
