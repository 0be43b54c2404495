/** Controls (C0, DEL and C1), the separators that end a line or a paragraph, and what turns the direction of text. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/**
 * Text as it may stand in a line, whoever wrote it: a terminal obeys controls, a line end begins what looks like a line of
 * our own, and text that turns its direction reads as another. Each of these is written as JSON would escape it, `\u001b`, so
 * JSON that has been made printable still says the same.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Lines for a terminal. All that a command prints goes through here. */
export function printableLines(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('')
}
