/** The lines of a table with its columns under one another, the first to the left and the others to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  const lines = rows.map((row) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number),
    ),
  )
  return lines.map((cells) => cells.join('  ').trimEnd())
}
