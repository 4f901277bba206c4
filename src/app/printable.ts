/** Text from outside, fit for one line on a terminal: what could steer the terminal or break the line becomes U+FFFD. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
}

/** Lines of a table: columns as wide as their widest cell, two spaces apart. Cells may be text from outside. */
export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [titles, ...rows.map(row => row.map(printable))]
  const widths = titles.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines.map(line =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
