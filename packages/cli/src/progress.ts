import type { Io } from './io.ts'

/** How long something may take before anything is said of it. */
const quietMs = 1000
const terminalMs = 200
const plainMs = 5000

/** Tells how far a long file has been read: several times a second in a terminal, as a plain line now and then elsewhere. */
export class Progress {
  readonly #io: Pick<Io, 'err' | 'errIsTerminal'>
  readonly #totalBytes: number | undefined
  readonly #now: () => number
  #nextMs: number
  #isShown = false

  constructor(
    io: Pick<Io, 'err' | 'errIsTerminal'>,
    totalBytes: number | undefined,
    now: () => number = () => performance.now(),
  ) {
    this.#io = io
    this.#totalBytes = totalBytes
    this.#now = now
    this.#nextMs = now() + (io.errIsTerminal ? quietMs : plainMs)
  }

  tell(bytes: number): void {
    const nowMs = this.#now()
    if (nowMs < this.#nextMs) return
    this.#nextMs = nowMs + (this.#io.errIsTerminal ? terminalMs : plainMs)
    const share = this.#totalBytes ? `, ${Math.floor((100 * bytes) / this.#totalBytes)} %` : ''
    const text = `read ${(bytes / 1e6).toFixed(0)} MB${share}`
    this.#io.err(this.#io.errIsTerminal ? `\r\x1b[K${text}` : `${text}\n`)
    this.#isShown = true
  }

  /** Takes away what stands in the terminal. */
  end(): void {
    if (this.#isShown && this.#io.errIsTerminal) this.#io.err('\r\x1b[K')
  }
}
