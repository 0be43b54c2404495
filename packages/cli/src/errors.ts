/** What was asked for cannot be done, for a reason that the message tells. The exit code is 2. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
}

/** Where in a file something is wrong; lines and columns are counted from 1. */
export interface Place {
  readonly file: string
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** What was given cannot be read. The message begins with the file, the line and the column, as far as they are known. */
export class InputError extends CliError {
  override readonly name = 'InputError'
  readonly place: Place

  constructor(place: Place, problem: string, options?: ErrorOptions) {
    const { file, line, column } = place
    super(`${[file, line, column].filter((part) => part !== undefined).join(':')}: ${problem}`, options)
    this.place = place
  }
}

/** What went wrong, in the words of whoever noticed, with what is behind it where that says more (`fetch failed` alone says nothing). */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  return error instanceof CliError || !(cause instanceof Error) ? message : `${message}: ${messageOf(cause)}`
}
