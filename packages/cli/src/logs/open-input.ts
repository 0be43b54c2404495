import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CliError, InputError, messageOf } from '../errors.ts'
import type { Io } from '../io.ts'
import { Progress } from '../progress.ts'
import { prepended } from './prepended.ts'

/**
 * The bytes of a file, or of the standard input for `-`, unpacked if they are gzip, whatever the file is called. Tells
 * its progress.
 *
 * @throws {CliError} if it cannot be read
 */
export async function* openInput(path: string, io: Io): AsyncGenerator<Uint8Array> {
  const progress = new Progress(io, path === '-' ? undefined : await sizeOf(path))
  const source = path === '-' ? io.stdin : createReadStream(path)
  try {
    yield* unpacked(counted(source, progress), path)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new InputError({ file: path }, `cannot be read: ${messageOf(error)}`, { cause: error })
  } finally {
    progress.end()
    source.destroy()
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    throw new InputError({ file: path }, `cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function* counted(source: Readable, progress: Progress): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of source) {
    const part = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array)
    bytes += part.length
    progress.tell(bytes)
    yield part
  }
}

async function* unpacked(chunks: AsyncGenerator<Uint8Array>, path: string): AsyncGenerator<Uint8Array> {
  const first = await chunks.next()
  if (first.done) return
  const whole = prepended(first.value, chunks)
  // RFC 1952, section 2.3.1
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole
  const gunzip = createGunzip()
  const source = Readable.from(whole)
  source.once('error', (error) => gunzip.destroy(error))
  source.pipe(gunzip)
  try {
    for await (const chunk of gunzip) yield chunk as Uint8Array
  } catch (error) {
    throw new InputError({ file: path }, `is broken gzip: ${messageOf(error)}`, { cause: error })
  } finally {
    source.destroy()
    gunzip.destroy()
  }
}
