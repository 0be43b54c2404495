import { type LedgerAnswers, type LedgerCall, MemoryLedger, type Step } from '@hostpace/core/stores'
import { ManualClock } from '@hostpace/core/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ScriptRunner, scriptRunnerOf } from '../src/redis-client.ts'
import { RedisLedger } from '../src/redis-ledger.ts'
import { limitsOf } from './limits.ts'
import { openServer, type RedisServer, serverIsThere } from './redis-server.ts'

const limits = limitsOf({ intervalMs: 1000 })
let slots = 0

function leave(): Step {
  return { kind: 'leave', slot: `a.${++slots}`, cost: 1, order: slots, more: 0 }
}

function callOf(steps: readonly Step[], key = 'https://a.example'): LedgerCall {
  return { key, limits, worker: 'a', leaseMs: 30_000, horizonMs: 100, inFlight: 0, seq: 0, learnedVersion: 0, steps }
}

/** A runner that counts, and that can be told to lose an answer or to send a call twice. */
class CountingRunner implements ScriptRunner {
  readonly #inner: ScriptRunner
  runs = 0
  scripts = 0
  reconnects = 0
  refusal = ''
  #fault: 'none' | 'loses' | 'repeats' | 'refuses' = 'none'

  constructor(inner: ScriptRunner) {
    this.#inner = inner
  }

  set fault(fault: 'none' | 'loses' | 'repeats' | 'refuses') {
    this.#fault = fault
  }

  async evalSha(sha1: string, keys: string[], args: string[]): Promise<unknown> {
    this.runs++
    if (this.#fault === 'refuses') throw new Error(this.refusal)
    const reply = await this.#inner.evalSha(sha1, keys, args)
    if (this.#fault === 'loses') throw new Error('Connection is closed.')
    return this.#fault === 'repeats' ? this.#inner.evalSha(sha1, keys, args) : reply
  }

  async eval(script: string, keys: string[], args: string[]): Promise<unknown> {
    this.scripts++
    return this.#inner.eval(script, keys, args)
  }

  reconnect(): void {
    this.reconnects++
  }
}

describe.skipIf(!serverIsThere)('the ledger', () => {
  let server: Pick<RedisServer, 'url' | 'close'>
  let client: Redis

  beforeAll(async () => {
    server = await openServer()
    client = new Redis(server.url)
  })

  afterAll(async () => {
    client?.disconnect()
    await server?.close()
  })

  function open(clockMs?: () => number): { ledger: RedisLedger; runner: CountingRunner; prefix: string } {
    const runner = new CountingRunner(scriptRunnerOf(client))
    const prefix = `${Math.random()}:`
    return { ledger: new RedisLedger(runner, prefix, clockMs), runner, prefix }
  }

  async function waitOf(ledger: RedisLedger): Promise<number> {
    const { answers } = (await ledger.decide(callOf([leave()]))) as LedgerAnswers
    const [answer] = answers
    return answer?.kind === 'promised' ? answer.waitMs : 0
  }

  test('runs a call once whose answer is lost (D02)', async () => {
    const { ledger, runner } = open()
    await waitOf(ledger)
    const { runs } = runner
    runner.fault = 'loses'
    await expect(ledger.decide(callOf([leave()]))).rejects.toThrow('Connection is closed.')
    expect(runner.runs).toBe(runs + 1)
  })

  test('refuses a call that a client sends again', async () => {
    const { ledger, runner } = open()
    runner.fault = 'repeats'
    await waitOf(ledger).catch(() => {})
    await expect(ledger.decide(callOf([leave()]))).rejects.toThrow('REPEATED')
    runner.fault = 'none'
    const { seq } = (await ledger.decide(callOf([]))) as LedgerAnswers
    expect(seq).toBe(3)
  })

  test('takes what is asked in one turn to the server together, sixteen at a time, whatever the hosts and policies', async () => {
    const { ledger, runner } = open(() => 1_700_000_000_000)
    await waitOf(ledger)
    const { runs } = runner
    const other = limitsOf({ quotas: [{ limit: 1, windowMs: 5000 }] })
    const calls = Array.from({ length: 40 }, (_, index) => ({
      ...callOf([leave(), leave()], `https://h${index}.example`),
      limits: index % 2 === 0 ? limits : other,
    }))
    const replies = (await Promise.all(calls.map((call) => ledger.decide(call)))) as LedgerAnswers[]
    expect(runner.runs - runs).toBe(3)
    expect(replies.map(({ answers: [, second] }) => second?.kind === 'promised' && second.waitMs)).toEqual(
      calls.map((_, index) => (index % 2 === 0 ? 1000 : 5000)),
    )
  })

  test('a host with something else at its keys fails alone', async () => {
    const { ledger, prefix } = open(() => 1_700_000_000_000)
    await client.rpush(`${prefix}{https://b.example}:host`, 'a list')
    const replies = await Promise.allSettled(
      ['a', 'b', 'c'].map((name) => ledger.decide(callOf([leave()], `https://${name}.example`))),
    )
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(replies[1]).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') } })
    const { answers } = (await ledger.decide(callOf([leave()], 'https://c.example'))) as LedgerAnswers
    expect(answers).toMatchObject([{ kind: 'promised', waitMs: 1000 }])
  })

  test('has sent what it was asked once it is closed', async () => {
    const { ledger, runner } = open()
    const reply = ledger.decide(callOf([leave()]))
    expect(runner.runs).toBe(0)
    ledger.close()
    expect(runner.runs).toBe(1)
    await reply
  })

  test('brings the script once to a server that has none, however many ask', async () => {
    await client.script('FLUSH')
    const { ledger, runner } = open()
    const keys = Array.from({ length: 50 }, (_, index) => `https://h${index}.example`)
    await Promise.all(keys.map((key) => ledger.decide(callOf([leave()], key))))
    expect(runner.scripts).toBe(1)
  })

  test.each([
    "READONLY You can't write against a read only replica.",
    // Before Redis 7.
    "@user_script: 811: -READONLY You can't write against a read only replica.",
  ])('asks for one new connection, however many calls a replica refuses: %s', async (refusal) => {
    const { ledger, runner } = open()
    runner.refusal = refusal
    runner.fault = 'refuses'
    const calls = Array.from({ length: 20 }, () => ledger.decide(callOf([leave()])))
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected')
    expect(runner.reconnects).toBe(1)
  })

  test('runs on from the latest it has seen where the clock of the server was set back', async () => {
    let nowMs = 1_700_000_000_000
    const { ledger } = open(() => nowMs)
    expect(await waitOf(ledger)).toBe(0)
    nowMs -= 3_600_000
    const waitMs = await waitOf(ledger)
    expect(waitMs).toBe(1000)
    nowMs += 1000
    const { nowMs: seenMs } = (await ledger.decide(callOf([]))) as LedgerAnswers
    expect(seenMs).toBe(1_700_000_001_000)
  })

  test('stands still where the clock was set back by a moment', async () => {
    let nowMs = 1_700_000_000_000
    const { ledger } = open(() => nowMs)
    await waitOf(ledger)
    nowMs -= 300
    expect(await waitOf(ledger)).toBe(1000)
    nowMs += 700
    const { nowMs: seenMs } = (await ledger.decide(callOf([]))) as LedgerAnswers
    expect(seenMs).toBe(1_700_000_000_400)
  })

  test('starts a very large quota again in ten thousand parts, as the ledger in memory does', async () => {
    const clock = new ManualClock()
    const { ledger } = open(() => clock.now())
    const quotaOnly = limitsOf({ quotas: [{ limit: 1_000_000, windowMs: 1e9 }] })
    const inMemory = new MemoryLedger(clock)
    const bothSay = async (...steps: Step[]) => {
      const call = { ...callOf(steps, 'https://large.example'), limits: quotaOnly }
      const said = (await ledger.decide(call)) as LedgerAnswers
      const { credits, answers } = inMemory.decide(call) as LedgerAnswers
      expect(said.credits).toEqual(credits)
      expect(said.answers.map((answer) => answer ?? undefined)).toEqual(answers)
      return said
    }
    await bothSay({ kind: 'pause', forMs: 1000 })
    clock.advance(2000)
    const { credits } = await bothSay()
    expect(credits[0]).toBe(1)
    await bothSay(leave(), leave(), leave())
    const lists = (await client.keys('*{https://large.example}*')).filter((key) => key.endsWith(':0'))
    expect(await Promise.all(lists.map((key) => client.llen(key)))).toEqual([9999])
  })

  test('names no key that it does not use, and all of one host with one hash tag', async () => {
    const { ledger } = open()
    const plain = limitsOf({ intervalMs: 1000, quotas: [{ limit: 5, windowMs: 60_000 }] })
    await ledger.decide({ ...callOf([leave()], 'a{b}%'), limits: plain })
    const keys = await client.keys('*{a%7Bb%7D%25}*')
    expect(keys.length).toBe(1)
  })
})
