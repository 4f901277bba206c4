import { readFileSync } from 'node:fs'

export interface ConfigCase {
  readonly title: string
  readonly text: string
  /** Expected errors, each `line:column: path: message`, in order. */
  readonly refused: readonly string[]
}

const base = [
  'kafka: { brokers: [a:9092] }',
  'registry: { url: http://registry:8081 }',
  'sources: [{ id: web, writeKey: web-key }]',
]

/**
 * The cases of one file in test/fixtures/config/refused, in the format that form.cases describes.
 */
export function configCases(name: string): readonly ConfigCase[] {
  const file = readFileSync(new URL(`../../fixtures/config/refused/${name}.cases`, import.meta.url), 'utf8')
  return file
    .split(/^=== /m)
    .slice(1)
    .map(part => {
      const [head = '', refused = ''] = part.split(/^--- refused\n/m)
      const [title = '', ...lines] = head.split('\n')
      const given = new Set(lines.map(line => /^\w+:/.exec(line)?.[0]))
      const before = title.startsWith('whole file')
        ? []
        : base.map(line => (given.has(/^\w+:/.exec(line)?.[0]) ? '' : line))
      return { title, text: [...before, ...lines].join('\n'), refused: refused.split('\n').filter(line => line !== '') }
    })
}
