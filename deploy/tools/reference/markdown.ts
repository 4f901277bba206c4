/** A table; cells may hold anything but line breaks. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
  return [line(titles), `|${titles.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** GitHub's tables take `|` for the end of a cell, within backquotes too. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

export const code = (text: string): string => `\`${text}\``

/** Plain text as Markdown: what stands between `<` and `>` would be taken for HTML. */
export const plain = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part))
    .join('')

/** A page with the text between the marks of a name replaced. @throws Error when the page has lost the marks */
export function withBlock(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(start), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no ${start} … ${end}`)
  return `${page.slice(0, from)}${start}\n${text}\n${page.slice(to)}`
}

/** The line that says of a page that nobody edits it. */
export const madeFrom = (source: string): string => `This page is made from ${source} (\`npm run generate\`).`
