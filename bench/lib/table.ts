/** A cell of a table: a text, or a figure that is printed with three significant digits. */
export type Cell = string | number | undefined

/** Prints a table in Markdown, so that it can be put into a page as it is. */
export function printTable(title: string, columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const texts = rows.map((row) => row.map(textOf))
  const widths = columns.map((column, index) => Math.max(column.length, ...texts.map((row) => row[index]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  console.log(`\n### ${title}\n\n${[columns, rule, ...texts].map(line).join('\n')}`)
}

function textOf(cell: Cell): string {
  if (cell === undefined) return '-'
  if (typeof cell === 'string') return cell
  if (!Number.isFinite(cell)) return String(cell)
  if (Math.abs(cell) >= 100 || Number.isInteger(cell)) return Math.round(cell).toLocaleString('en-US')
  return cell.toPrecision(Math.abs(cell) >= 1 ? 3 : 2)
}
