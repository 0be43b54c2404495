import { Agent } from 'node:http'
import { Duplex } from 'node:stream'

const answer = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok')

/** A connection that answers each request at once, with no socket behind it. */
class StubConnection extends Duplex {
  override _read(): void {}

  override _write(_request: Buffer, _encoding: string, done: () => void): void {
    this.push(answer)
    done()
  }

  // What node:http asks of sockets.
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  setTimeout(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}

/** An agent of node:http whose connections answer at once. */
export class StubAgent extends Agent {
  constructor() {
    super({ keepAlive: true })
  }

  override createConnection(): Duplex {
    return new StubConnection()
  }
}
