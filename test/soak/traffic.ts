import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from './clients/client.ts'
import { describe, type Ending, endingOfAnswer, endingOfError } from './ending.ts'
import { type Origin, origins, takesBlindClients } from './origins.ts'
import { Random } from './random.ts'
import { SharedSignals } from './shared-signals.ts'
import { Stamps } from './stamps.ts'
import { type Task, taskOf } from './task.ts'
import { onWire } from './wire.ts'

/** If nothing has ended for so long, what is still open never will. */
const patienceMs = 15_000
/** How many surprises are kept word for word. */
const mostSurprises = 20

/** Makes the requests and keeps the books, by numbers only: a request that has ended leaves nothing behind. */
export class Traffic {
  readonly shared = new SharedSignals()
  /** When each request was written, hop by hop. */
  readonly written = new Stamps()
  /** The numbers of those that did not end with a whole answer. */
  readonly givenUp = new Set<number>()
  /** How often each ending has come, by client. */
  readonly tally = new Map<string, Map<Ending, number>>()
  readonly surprises: string[] = []
  /** What has been asked for and has not ended, by number. */
  readonly open = new Map<number, string>()
  started = 0
  settled = 0
  readonly #seed: number
  readonly #clients: readonly Client[]
  readonly #urls: Readonly<Record<string, string>>
  /** What to do when the request with this number goes to the wire. */
  readonly #whenOnWire = new Map<number, () => void>()
  readonly #stopListening: () => void
  /** How many requests each origin has had. */
  readonly #asked = new Map<Origin, number>()

  constructor(seed: number, clients: readonly Client[], urls: Readonly<Record<string, string>>) {
    this.#seed = seed
    this.#clients = clients
    this.#urls = urls
    this.#stopListening = onWire((id) => {
      this.written.note(id)
      this.#whenOnWire.get(id)?.()
    })
  }

  /** Has each client load what it loads late and only once, at an address that has no part in this. */
  async warmUp(url: string): Promise<void> {
    const call = { url: `${url}/`, signal: undefined, hostpace: {}, retries: 0, onBody: () => false }
    for (const client of this.#clients) await client.send(call)
  }

  /** Makes so many requests, spread over the origins by their shares. Resolves when all have ended or none does any more. */
  async run(count: number): Promise<void> {
    const shares = origins.reduce((sum, { share }) => sum + share, 0)
    const counts = origins.map(({ share }) => Math.floor((count * share) / shares))
    counts[0] = (counts[0] as number) + count - counts.reduce((sum, part) => sum + part, 0)
    const done = Promise.all(origins.map((origin, index) => this.#ask(origin, index, counts[index] as number)))
    const stopWaiting = new AbortController()
    await Promise.race([done, this.#standstill(stopWaiting.signal)])
    stopWaiting.abort()
  }

  stop(): void {
    this.#stopListening()
  }

  async #ask(origin: Origin, index: number, count: number): Promise<void> {
    const clients = this.#clients.filter(({ isBlind }) => !isBlind || takesBlindClients(origin))
    let left = count
    const lane = async () => {
      while (left > 0) {
        left--
        const asked = this.#asked.get(origin) ?? 0
        this.#asked.set(origin, asked + 1)
        const task = taskOf(this.#seed, asked * origins.length + index, clients)
        const ending = await this.#make(task, origin)
        // Whoever is turned away comes back after a while, and does not knock on and on.
        if (ending === 'too long' || ending === 'line full') await sleep(new Random(task.id).between(50, 300))
      }
    }
    await Promise.all(Array.from({ length: origin.lanes }, lane))
  }

  async #make(task: Task, origin: Origin): Promise<Ending> {
    const { id, client, abort } = task
    const controller = new AbortController()
    const giveUp = () => controller.abort(new Error('given up'))
    let timer: NodeJS.Timeout | undefined
    if (abort?.at === 'start') giveUp()
    const giveUpIn = (afterMs: number) => {
      this.#whenOnWire.delete(id)
      timer = setTimeout(giveUp, afterMs)
    }
    if (abort?.at === 'time') giveUpIn(abort.afterMs)
    if (abort?.at === 'wire') this.#whenOnWire.set(id, () => giveUpIn(abort.afterMs))
    const onBody = () => {
      if (abort?.at === 'body' && !abort.hangsUp) giveUp()
      return abort?.at === 'body' && abort.hangsUp
    }
    const signal = task.sharesSignal ? this.shared.take() : abort && controller.signal

    this.started++
    this.open.set(id, `${client.name} to ${origin.name}, ${JSON.stringify({ ...task, client: undefined })}`)
    const call = { url: this.#urlOf(task, origin), signal, hostpace: task.hostpace, retries: task.retries, onBody }
    const ending = await this.#endingOf(task, client.send(call), signal)
    clearTimeout(timer)
    this.#whenOnWire.delete(id)
    this.open.delete(id)
    if (ending !== 'whole') this.givenUp.add(id)
    this.settled++
    const counts = this.tally.get(client.name) ?? new Map<Ending, number>()
    this.tally.set(client.name, counts.set(ending, (counts.get(ending) ?? 0) + 1))
    return ending
  }

  async #endingOf({ id, client }: Task, sending: ReturnType<Client['send']>, signal: AbortSignal | undefined) {
    try {
      const answer = await sending
      const ending = endingOfAnswer(answer, id)
      if (ending === 'unexpected')
        this.#surprise(`${client.name} took for whole ${JSON.stringify(answer).slice(0, 200)}`)
      return ending
    } catch (error) {
      const ending = endingOfError(error, signal)
      if (ending === 'unexpected') this.#surprise(`${client.name} failed with ${describe(error)}`)
      return ending
    }
  }

  #urlOf({ id, client, hostpace }: Task, { name }: Origin): string {
    const blind = client.isBlind ? '&blind' : ''
    return `${this.#urls[name]}/?id=${id}&cost=${hostpace.cost ?? 1}${blind}`
  }

  #surprise(text: string): void {
    if (this.surprises.length < mostSurprises) this.surprises.push(text)
  }

  /** Resolves when nothing has ended for a long time. */
  async #standstill(signal: AbortSignal): Promise<void> {
    for (let before = -1; before !== this.settled && !signal.aborted; ) {
      before = this.settled
      await sleep(patienceMs, undefined, { signal }).catch(() => {})
    }
  }
}
