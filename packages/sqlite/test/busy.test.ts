import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPacer, type StoreError } from '@hostpace/core'
import type { SharedStoreOptions } from '@hostpace/core/stores'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../src/database.ts'
import { sqliteStore } from '../src/index.ts'
import { noSqlite, url, withFolder } from './sqlite-setting.ts'
import { startLocking } from './start-program.ts'

const policy = { rate: 20, quotas: [{ limit: 40, windowMs: 3_600_000 }] }

/** A pacer on a file of which another process takes the lock for a while. */
async function withLock(
  lockMs: number,
  options: SharedStoreOptions,
  use: (setting: {
    send(count: number): Promise<unknown[]>
    failures: StoreError[]
    /** What another process finds in the file. */
    left(): Promise<number>
  }) => Promise<void>,
) {
  await withFolder(async (folder) => {
    const path = join(folder, 'pace.db')
    const store = sqliteStore({ path, ...options })
    const pacer = createPacer({ ...policy, store })
    const failures: StoreError[] = []
    pacer.on('store-error', ({ error }) => failures.push(error as StoreError))
    const send = async (count: number) => {
      const requests = Array.from({ length: count }, () => pacer.run(url, async () => undefined))
      const ends = await Promise.allSettled(requests)
      return ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    }
    const left = async () => {
      const otherStore = sqliteStore({ path, onStoreError: 'throw', timeoutMs: 20_000 })
      const other = createPacer({ ...policy, store: otherStore })
      const { layers } = await other.explain(url)
      await other.close()
      await otherStore.close()
      return layers.find(({ layer }) => layer === 'quota')?.credit as number
    }
    await send(1)
    const locker = await startLocking(path, lockMs)
    try {
      await use({ send, failures, left })
    } finally {
      await locker.kill()
      await pacer.close()
      await store.close()
    }
  })
}

describe.skipIf(noSqlite !== false)('a lock that another process holds', () => {
  test('for a moment: those who ask wait for it, and all are counted', () =>
    withLock(100, { onStoreError: 'throw', timeoutMs: 20_000 }, async ({ send, failures, left }) => {
      expect(await send(10)).toEqual([])
      expect(failures).toEqual([])
      expect(await left()).toBe(29)
    }))

  test('for longer than it may take: no error reaches a caller, one event tells of it, and all are counted', () =>
    withLock(2000, {}, async ({ send, failures, left }) => {
      expect(await send(10)).toEqual([])
      expect(failures).toHaveLength(1)
      expect(failures[0]?.code).toBe('ERR_HOSTPACE_STORE')
      // Back by itself, it has told the file what it had sent.
      for (let attempt = 0; attempt < 100 && (await left()) !== 29; attempt++) await sleep(100)
      expect(await left()).toBe(29)
      expect(failures).toHaveLength(1)
    }))

  test('leaves the process free to do other things, also where the file is new', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      const db = openDatabase(path)
      db.exec('BEGIN EXCLUSIVE')
      const store = sqliteStore({ path, timeoutMs: 20_000, onStoreError: 'throw' })
      const pacer = createPacer({ ...policy, store })
      const request = pacer.run(url, async () => 'sent')
      // Whoever stood still for the lock would never come to let it go.
      for (let turn = 0; turn < 20; turn++) await sleep(1)
      db.exec('COMMIT')
      db.close()
      expect(await request).toBe('sent')
      await pacer.close()
      await store.close()
    }))
})
