import type { PacerOptions } from '../pacer-options.ts'
import type { AdapterDriver, AdapterNeed } from './adapter-driver.ts'
import { type AdapterSetting, openSetting } from './adapter-setting.ts'

/** One thing that every adapter must do. It throws if this one does not. */
export interface AdapterScenario {
  readonly name: string
  /** What a client must be able to do for the scenario to make sense. */
  readonly needs?: readonly AdapterNeed[]
  run(driver: AdapterDriver): Promise<void>
}

/** What differs from scenario to scenario. */
export interface ScenarioOptions extends PacerOptions {
  needs?: readonly AdapterNeed[]
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
  const { needs = [], ...pacerOptions } = options
  return {
    name,
    needs,
    async run(driver) {
      const setting = await openSetting(driver, pacerOptions)
      try {
        await play(setting)
      } finally {
        await setting.close()
      }
    },
  }
}
