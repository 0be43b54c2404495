import assert from 'node:assert/strict'
import type { DriverRequest } from './adapter-driver.ts'
import { type AdapterScenario, plainOnly, scenario } from './adapter-scenario.ts'
import { type AdapterSetting, realTime } from './adapter-setting.ts'

/** Milliseconds of real time: the client's time-out, and a wait that is longer. */
const timeoutMs = 300
const waitMs = 350

/** The client's own time-outs are about the server, so a wait in our queue does not count. */
export const timeoutScenarios: readonly AdapterScenario[] = [
  scenario(
    'a time-out does not count the wait of the first hop',
    { needs: ['timeout'], ...plainOnly },
    async (setting) => {
      await setting.send({ url: setting.a.url('/ok') }).response()
      await outwait(setting, { url: setting.a.url('/ok') })
    },
  ),

  scenario('a time-out does not count the wait of a redirect hop', { needs: ['timeout', 'redirect'] }, (setting) =>
    outwait(setting, { url: setting.a.url('/redirect', { to: '/ok' }) }),
  ),

  scenario('a time-out does not count the wait of a retry', { needs: ['timeout', 'retry'], ...plainOnly }, (setting) =>
    outwait(setting, { url: setting.a.url('/limited', { code: 503 }), retries: 1 }),
  ),

  scenario(
    'a time-out still ends a request that nobody answers',
    { needs: ['timeout'], ...plainOnly },
    async (setting) => {
      const { a, driver, clock, send, waiting, inFlight, departures } = setting
      await send({ url: a.url('/ok') }).response()
      const sent = send({ url: a.url('/hang'), timeoutMs })
      await waiting(1)
      await realTime(waitMs)
      assert.equal(sent.state, 'pending')
      await clock.advanceAsync(1000)
      assert.ok(driver.isClientError(await sent.error()))
      await inFlight(0)
      assert.equal(departures.length, 2)
    },
  ),
]

/** Lets a request wait for longer than its time-out; it must still succeed. */
async function outwait({ clock, send, waiting }: AdapterSetting, request: DriverRequest): Promise<void> {
  const sent = send({ ...request, timeoutMs })
  await waiting(1)
  await realTime(waitMs)
  await clock.advanceAsync(1000)
  assert.equal((await sent.response()).body, 'ok')
}
