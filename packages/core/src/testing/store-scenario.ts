import type { Policy } from '../policy.ts'
import { type OpenStores, StoreCaller, type StoreDriver } from './store-setting.ts'

/** One thing that every store must do. It throws if this one does not. */
export interface StoreScenario {
  readonly name: string
  run(driver: StoreDriver): Promise<void>
}

/** What a scenario plays with: two callers of one host, who share its credit. */
export interface StoreSetting extends Pick<OpenStores, 'advance' | 'nowMs'> {
  readonly one: StoreCaller
  readonly other: StoreCaller
  /** A caller for another host, or with another policy or clock. */
  caller(options: { policy?: Policy; key?: string; offMs?: number }): StoreCaller
}

/** A scenario with a host under `policy`. */
export function storeScenario(
  name: string,
  policy: Policy,
  play: (setting: StoreSetting) => Promise<void>,
): StoreScenario {
  return {
    name,
    async run(driver) {
      const { stores, nowMs, advance, close } = await driver.open()
      const host = 'https://a.example'
      try {
        await play({
          one: new StoreCaller(stores[0], policy, host, nowMs),
          other: new StoreCaller(stores[1], policy, host, nowMs),
          nowMs,
          advance,
          caller: ({ policy: own = policy, key = host, offMs = 0 }) =>
            new StoreCaller(stores[1], own, key, () => nowMs() + offMs),
        })
      } finally {
        await close()
      }
    },
  }
}
