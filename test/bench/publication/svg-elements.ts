/* Sizes are pixels. */

export const text = (x: number, y: number, words: string, style?: string): string =>
  `<text x="${round(x)}" y="${round(y)}"${style === undefined ? '' : ` class="${style}"`}>${escaped(words)}</text>`

export const box = (x: number, y: number, wide: number, high: number, fill: string): string =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${high}" fill="${fill}"/>`

export const rule = (from: number, to: number, y: number, stroke: string, dashes = 'none'): string =>
  `<line x1="${round(from)}" x2="${round(to)}" y1="${round(y)}" y2="${round(y)}" stroke="${stroke}" stroke-dasharray="${dashes}"/>`

/** What is read out, and shown beside the pointer; the first thing in what it is of. */
export const spoken = (words: string): string => `<title>${escaped(words)}</title>`

export const round = (value: number): number => Math.round(value * 10) / 10

const styles =
  'text{font:12px sans-serif;fill:#1f2933}.title{font-size:15px;font-weight:bold}.group{font-weight:bold}' +
  '.label{text-anchor:end}.middle{text-anchor:middle}'

/** The title stands twice: to be seen, and for those who have the plot read to them. */
export const document = (
  title: string,
  { width, height, style = '' }: { readonly width: number; readonly height: number; readonly style?: string },
  drawn: readonly string[],
): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    spoken(title),
    `<style>${styles}${style}</style>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(12, 26, title, 'title'),
    ...drawn,
    '</svg>',
    '',
  ].join('\n')

const escaped = (words: string): string => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
