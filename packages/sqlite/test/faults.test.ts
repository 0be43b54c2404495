import { chmodSync, existsSync, mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '@hostpace/core'
import { afterEach, describe, expect, test } from 'vitest'
import { noSqlite, Program, TestMachine, withFolder } from './sqlite-setting.ts'
import { hasLimits, limitFiles, type StartedProgram, startPacing } from './start-program.ts'

/** What makes a file unusable, and what puts that right. */
const faults: Record<string, (path: string) => () => void> = {
  'a file that is no database': (path) => {
    writeFileSync(path, 'nothing that SQLite knows '.repeat(1000))
    return () => rmSync(path)
  },
  'a folder in place of the file': (path) => {
    mkdirSync(path)
    return () => rmdirSync(path)
  },
}
const folderIsMissing = 'a folder that is missing'

describe.skipIf(noSqlite !== false).each([...Object.keys(faults), folderIsMissing])('%s', (fault) => {
  /** Breaks the file, and lets a test put it right. */
  async function withFault(use: (path: string, mend: () => void) => Promise<void>): Promise<void> {
    await withFolder(async (folder) => {
      if (fault === folderIsMissing) {
        await use(join(folder, 'missing', 'pace.db'), () => mkdirSync(join(folder, 'missing')))
      } else {
        const path = join(folder, 'pace.db')
        await use(path, faults[fault]?.(path) as () => void)
      }
    })
  }

  test("'throw' rejects with a StoreError that says why, until it is right", () =>
    withFault(async (path, mend) => {
      const machine = new TestMachine()
      const program = new Program(path, machine, { rate: 10 }, { onStoreError: 'throw' })
      program.send(2)
      await machine.clock.advanceAsync(1000)
      expect(program.departures).toEqual([])
      expect(program.errors).toHaveLength(2)
      for (const error of program.errors) {
        expect(error).toBeInstanceOf(StoreError)
        expect((error as Error).cause).toBeInstanceOf(Error)
      }
      mend()
      program.send(1)
      await machine.clock.advanceAsync(0)
      expect(program.departures).toEqual([1000])
      await program.close()
    }))

  test("'local' paces in this process and tells of it once, until it is right", () =>
    withFault(async (path, mend) => {
      const machine = new TestMachine()
      const [program, other] = [0, 1].map(() => new Program(path, machine, { rate: 10 })) as [Program, Program]
      program.send(10)
      await machine.clock.advanceAsync(2000)
      expect(program.departures.length).toBeGreaterThanOrEqual(4)
      expect(program.departures.length).toBeLessThanOrEqual(10)
      expect(program.errors).toEqual([])
      expect(program.failures).toHaveLength(1)
      expect((program.failures[0] as StoreError).cause).toBeInstanceOf(Error)
      mend()
      await machine.clock.advanceAsync(3000)
      for (const each of [program, other]) each.send(20)
      await machine.clock.advanceAsync(1000)
      // Both share the file now: what one has sent, the other has not.
      const fromMs = machine.clock.now() - 1000
      const departures = [program, other].flatMap((each) => each.departures.filter((atMs) => atMs >= fromMs))
      expect(departures.length).toBeGreaterThanOrEqual(10)
      expect(departures.length).toBeLessThanOrEqual(20)
      expect([...program.errors, ...program.failures.slice(1), ...other.errors, ...other.failures]).toEqual([])
      await program.close()
      await other.close()
    }))
})

describe.skipIf(noSqlite !== false)('a file that is damaged while it is in use', () => {
  test('is told of once, and a new one in its place is taken', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      const machine = new TestMachine()
      const program = new Program(path, machine, { rate: 10, quotas: [{ limit: 5, windowMs: 60_000 }] })
      program.send(3)
      await machine.clock.advanceAsync(1000)
      for (const end of ['', '-wal', '-shm']) writeFileSync(`${path}${end}`, 'x'.repeat(100_000))
      program.send(1)
      await machine.clock.advanceAsync(1000)
      expect(program.failures).toHaveLength(1)
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
      await machine.clock.advanceAsync(3000)
      program.send(5)
      await machine.clock.advanceAsync(20_000)
      // The new file has been told what the process remembers of the old.
      expect(program.departures).toHaveLength(5)
      expect(program.failures).toHaveLength(1)
      expect(existsSync(path)).toBe(true)
      await program.close()
    }))
})

describe.skipIf(noSqlite !== false || process.getuid === undefined)('a real process', () => {
  let program: StartedProgram | undefined
  afterEach(() => program?.kill())
  const policy = { rate: 100, quotas: [{ limit: 20, windowMs: 3_600_000 }] }
  const departed = { kind: 'departed' }

  test('may not write: it says so, and goes on once it may', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'pace.db')
      program = await startPacing({ path, policy })
      await program.told({ send: 1 })
      await program.kill()
      const files = ['', '-wal', '-shm'].map((end) => `${path}${end}`).filter((file) => existsSync(file))
      chmodSync(folder, 0o555)
      for (const file of files) chmodSync(file, 0o444)

      const user = process.getuid?.() === 0 ? { user: 65_534 } : {}
      program = await startPacing({ path, policy, options: { onStoreError: 'throw' }, ...user })
      const refused = { kind: 'rejected', text: expect.stringContaining('StoreError') }
      const failure = { kind: 'failure', text: expect.stringMatching(/readonly|unable to open/) }
      expect(await program.told({ send: 2 })).toEqual([failure, refused, refused])

      chmodSync(folder, 0o777)
      for (const file of files) chmodSync(file, 0o666)
      expect(await program.told({ send: 1 })).toEqual([departed])
    }))

  test.skipIf(!hasLimits)('finds the disk full: it says so, and goes on once there is room', () =>
    withFolder(async (folder) => {
      program = await startPacing({ path: join(folder, 'pace.db'), policy, options: { onStoreError: 'throw' } })
      expect(await program.told({ send: 1 })).toEqual([departed])
      limitFiles(program, 4096)
      const refused = { kind: 'rejected', text: expect.stringContaining('StoreError') }
      const failure = { kind: 'failure', text: expect.stringMatching(/full|I\/O/) }
      expect(await program.told({ send: 1 })).toEqual([failure, refused])
      limitFiles(program, 'unlimited')
      expect(await program.told({ send: 1 })).toEqual([departed])
    }),
  )

  test.skipIf(!hasLimits)('paces alone while the disk is full', () =>
    withFolder(async (folder) => {
      program = await startPacing({ path: join(folder, 'pace.db'), policy })
      expect(await program.told({ send: 1 })).toEqual([departed])
      limitFiles(program, 4096)
      expect(await program.told({ send: 5 })).toEqual([
        { kind: 'failure', text: expect.anything() },
        ...Array(5).fill(departed),
      ])
      limitFiles(program, 'unlimited')
      expect(await program.told({ send: 5 })).toEqual(Array(5).fill(departed))
    }),
  )
})
