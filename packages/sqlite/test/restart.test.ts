import { join } from 'node:path'
import { createPacer } from '@hostpace/core'
import { describe, expect, test } from 'vitest'
import { sqliteStore } from '../src/index.ts'
import { noSqlite, Program, TestMachine, url, withFolder } from './sqlite-setting.ts'
import { startPacing } from './start-program.ts'

const quota = { rate: 100, capacity: 3, justification: 'a test', quotas: [{ limit: 3, windowMs: 60_000 }] }

/** Sends three, lets `change` happen, and says when a program that starts then may send the fourth. */
async function waitAfter(change: (machine: TestMachine, former: Program) => unknown): Promise<number> {
  return withFolder(async (folder) => {
    const path = join(folder, 'pace.db')
    const machine = new TestMachine()
    await machine.clock.advanceAsync(5000)
    const former = new Program(path, machine, quota)
    former.send(3)
    await machine.clock.advanceAsync(0)
    expect(former.departures).toHaveLength(3)
    await change(machine, former)
    await former.close()
    const program = new Program(path, machine, quota)
    program.send(1)
    const fromMs = machine.clock.now()
    await machine.clock.advanceAsync(200_000)
    await program.close()
    return (program.departures[0] as number) - fromMs
  })
}

describe.skipIf(noSqlite !== false)('a restart', () => {
  test('of the program: a quota goes on', async () => {
    expect(await waitAfter((machine) => machine.clock.advanceAsync(20_000))).toBe(40_000)
  })

  test('of the program: a pause goes on', async () => {
    const waitMs = await waitAfter((machine, { pacer }) => {
      pacer.pause(url, 90_000)
      return machine.clock.advanceAsync(20_000)
    })
    expect(waitMs).toBe(70_000)
  })

  test('of the machine: the wall clock tells how long it was off', async () => {
    expect(await waitAfter((machine) => machine.restart(20_000))).toBe(40_000)
    expect(await waitAfter((machine) => machine.restart(61_000))).toBe(0)
  })

  test('of the machine: under a pause', async () => {
    const waitMs = await waitAfter(async (machine, { pacer }) => {
      pacer.pause(url, 90_000)
      await machine.clock.advanceAsync(0)
      machine.restart(20_000)
    })
    expect(waitMs).toBe(70_000)
  })

  test('of the machine, whose wall clock was set back: nothing is earned, and nothing lasts longer', async () => {
    const day = 86_400_000
    expect(await waitAfter((machine) => machine.restart(20_000, -day))).toBe(60_000)
    const waitMs = await waitAfter(async (machine, { pacer }) => {
      pacer.pause(url, 90_000)
      await machine.clock.advanceAsync(0)
      machine.restart(20_000, -day)
    })
    expect(waitMs).toBe(90_000)
  })

  test('a wall clock that is set while the machine runs changes nothing', async () => {
    for (const stepMs of [-86_400_000, 86_400_000]) {
      const waitMs = await waitAfter((machine) => {
        machine.wallOffMs += stepMs
        return machine.clock.advanceAsync(20_000)
      })
      expect(waitMs).toBe(40_000)
    }
  })

  test('of a process that was killed: neither quota nor pause is lost', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      const policy = { rate: 100, quotas: [{ limit: 3, windowMs: 3_600_000 }] }
      const killed = await startPacing({ path, policy })
      expect(await killed.told({ send: 3 })).toEqual(Array.from({ length: 3 }, () => ({ kind: 'departed' })))
      await killed.kill()
      expect(await waitOf(path, policy)).toBeGreaterThan(3_400_000)

      const other = await startPacing({ path, policy })
      await other.told({ pauseMs: 7_200_000 })
      await other.kill()
      expect(await waitOf(path, policy)).toBeGreaterThan(7_000_000)
    })
  })
})

/** How long a program that starts now would have to wait. */
async function waitOf(path: string, policy: object): Promise<number> {
  const store = sqliteStore({ path, onStoreError: 'throw' })
  const pacer = createPacer({ ...policy, store })
  const { waitMs } = await pacer.peek(url)
  await pacer.close()
  await store.close()
  return waitMs
}
