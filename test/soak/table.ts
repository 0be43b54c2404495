/** Rows of cells as lines of text; the first column and those of words to the left, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const isNumber = head.map((_, column) => rows.every((row) => typeof row[column] === 'number'))
  const line = (row: readonly string[]) =>
    row.map((cell, at) => (isNumber[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join('  ')
  return cells.map((row) => line(row).trimEnd()).join('\n')
}
