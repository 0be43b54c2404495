import type { PacerOptions } from '../pacer-options.ts'
import type { AdapterDriver, AdapterNeed } from './adapter-driver.ts'
import { type AdapterSetting, openSetting } from './adapter-setting.ts'
import type { Transport } from './transport.ts'

/** One thing that every adapter must do. It throws if this one does not. */
export interface AdapterScenario {
  readonly name: string
  /** What a client must be able to do for the scenario to make sense. */
  readonly needs?: readonly AdapterNeed[]
  /** Whether it is left to HTTP/1.1 in plain: it is long, or about what no transport changes. */
  readonly isPlainOnly: boolean
  /** Whether the client can do, over this transport, what the scenario needs. */
  suits(driver: AdapterDriver, transport: Transport): boolean
  /** @param transport HTTP/1.1 in plain unless another one is given */
  run(driver: AdapterDriver, transport?: Transport): Promise<void>
}

/** What a scenario says that is left to HTTP/1.1 in plain. */
export const plainOnly = { isPlainOnly: true } as const

/** What differs from scenario to scenario. */
export interface ScenarioOptions extends PacerOptions {
  needs?: readonly AdapterNeed[]
  /** @default false */
  isPlainOnly?: boolean
}

/**
 * A scenario: two servers, and a client that is paced at one request per 1000 ms and host, on a clock
 * that only `play` moves. `options` change the pacer; nothing is learned unless they say `adapt: true`.
 */
export function scenario(
  name: string,
  options: ScenarioOptions,
  play: (setting: AdapterSetting) => Promise<void>,
): AdapterScenario {
  const { needs = [], isPlainOnly = false, ...pacerOptions } = options
  return {
    name,
    needs,
    isPlainOnly,
    suits(driver, transport) {
      return !needs.some((need) => driver.lacks?.has(need) || driver.lacksOver?.[transport]?.has(need))
    },
    async run(driver, transport = 'HTTP/1.1') {
      const setting = await openSetting(driver, transport, pacerOptions)
      try {
        await play(setting)
        setting.checkTransport()
      } finally {
        await setting.close()
      }
    },
  }
}
