import { InputError } from '../errors.ts'

/** A line beyond this is no line of a log; what has no line ends would fill the memory. */
const mostCharacters = 64 * 1024 * 1024

/**
 * Splits text into lines, as many at a time as are there. LF and CRLF end a line; the last one may do without.
 *
 * @throws {InputError} if a line is longer than 64 Mi characters
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  let count = 0
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    const end = text.lastIndexOf('\n')
    if (end < 0) rest += text
    else {
      const lines = (rest + text.slice(0, end)).split('\n')
      rest = text.slice(end + 1)
      count += lines.length
      yield lines.map(withoutReturn)
    }
    if (rest.length > mostCharacters) throw new InputError({ file, line: count + 1 }, 'the line is too long for a log')
  }
  rest += decoder.decode()
  if (rest !== '') yield [withoutReturn(rest)]
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
