/** What a parser says, as far as the place is concerned. */
interface ParserError {
  readonly message: string
  readonly line?: number
  readonly column?: number
}

/** What a parser of JSON found wrong in a text: without the place, and with what stands there in place of its name for that. */
export function jsonProblem({ message, line = 1, column = 1 }: ParserError, text: string): string {
  return message
    .replace(/( found\.)? \(\d+:\d+\)$/, '')
    .replace(/token \w+$/, () => `'${text.split('\n')[line - 1]?.[column - 1]}'`)
}
