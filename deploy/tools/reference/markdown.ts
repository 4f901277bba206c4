/** Cells may contain anything except line breaks. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
  return [line(titles), `|${titles.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

/** GitHub treats `|` as the end of a cell, even within backquotes. */
const cell = (text: string): string => text.replaceAll('|', '\\|')

export const code = (text: string): string => `\`${text}\``

/** Markdown would treat text between `<` and `>` as HTML. */
export const plain = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part))
    .join('')

/** Replaces the text between two marks in a page. @throws Error when a mark is missing */
export function withBlock(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(start), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no ${start} … ${end}`)
  return `${page.slice(0, from)}${start}\n${text}\n${page.slice(to)}`
}

/** The line that marks a page as generated. */
export const generatedFrom = (source: string): string => `This page is generated from ${source} (\`npm run generate\`).`
