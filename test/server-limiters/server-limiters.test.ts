/** A client that knows nothing of its host, against limiters that others wrote. */
import { createPacer } from '@hostpace/core'
import { pace } from '@hostpace/undici'
import { Agent } from 'undici'
import { describe, expect, test } from 'vitest'
import { type LimitedServer, startExpress, startFastify, startFlexible, type Window } from './node-servers.ts'
import { findProgram, startHaproxy, startNginx } from './proxies.ts'
import { SkippingClock } from './skipping-clock.ts'

const requests = 300
const window: Window = { limit: 100, windowMs: 10_000 }
const allowedPerSecond = (window.limit / window.windowMs) * 1000

interface Answer {
  readonly atMs: number
  readonly status: number
}

/** Sends all as fast as the pacer lets them. @returns the answers in the order of their departures */
async function crawl({ origin }: LimitedServer): Promise<Answer[]> {
  const clock = new SkippingClock()
  const pacer = createPacer({ clock })
  const agent = new Agent()
  const dispatcher = agent.compose(pace(pacer))
  const departures: number[] = []
  pacer.on('depart', () => void departures.push(clock.now()))
  const answers: Answer[] = []
  await Promise.all(
    Array.from({ length: requests }, async () => {
      const { statusCode, body } = await dispatcher.request({ origin, path: '/', method: 'GET' })
      answers.push({ atMs: clock.now(), status: statusCode })
      await body.dump()
    }),
  )
  await agent.close()
  await pacer.close()
  return answers
}

function refusals(answers: readonly Answer[]): number {
  return answers.filter(({ status }) => status !== 200).length
}

/** How much of what the host allows was used. */
function share(answers: readonly Answer[]): number {
  const takenMs = (answers.at(-1) as Answer).atMs - (answers[0] as Answer).atMs
  return (((answers.length - 1) / takenMs) * 1000) / allowedPerSecond
}

/** Prints a line of the table in docs/learning.md. */
function report(name: string, answers: readonly Answer[], settled: readonly Answer[]): void {
  if (process.env.HOSTPACE_FIGURES === undefined) return
  const percent = Math.round(share(settled) * 100)
  process.stdout.write(`| ${name} | ${refusals(answers)} | ${refusals(settled)} | ${percent} % |\n`)
}

const publishing: Record<string, () => Promise<LimitedServer>> = {
  'express-rate-limit, legacy headers': () => startExpress(window, { legacyHeaders: true, standardHeaders: false }),
  'express-rate-limit, draft 6': () => startExpress(window, { legacyHeaders: false, standardHeaders: 'draft-6' }),
  'express-rate-limit, draft 7': () => startExpress(window, { legacyHeaders: false, standardHeaders: 'draft-7' }),
  'express-rate-limit, draft 8': () => startExpress(window, { legacyHeaders: false, standardHeaders: 'draft-8' }),
  '@fastify/rate-limit': () => startFastify(window),
  'rate-limiter-flexible': () => startFlexible(window),
}

const silent: Record<string, (program: string, perSecond: number) => Promise<LimitedServer>> = {
  nginx: startNginx,
  haproxy: startHaproxy,
}

describe.concurrent('limiters', () => {
  test.each(Object.entries(publishing))('that publish their limits: %s', { timeout: 120_000 }, async (name, start) => {
    const server = await start()
    const answers = await crawl(server).finally(() => server.close())
    report(name, answers, answers)
    expect(refusals(answers)).toBe(0)
    expect(share(answers)).toBeGreaterThan(0.9)
  })

  for (const [name, start] of Object.entries(silent)) {
    const program = findProgram(name)
    test.skipIf(program === undefined)(`that say nothing but 429: ${name}`, { timeout: 120_000 }, async () => {
      const server = await start(program as string, allowedPerSecond)
      const answers = await crawl(server).finally(() => server.close())
      // The first hundred are for finding out.
      const settled = answers.slice(100)
      report(name, answers, settled)
      expect(refusals(settled) / settled.length).toBeLessThan(0.02)
    })
  }
})
