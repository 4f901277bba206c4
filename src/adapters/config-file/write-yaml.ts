import { stringify } from 'yaml'

/**
 * Writes a document as YAML. Each `${` becomes `$${`, so that `readYamlStream` returns the same
 * document and does not replace environment variables.
 */
export function yamlOf(document: object): string {
  return stringify(escaped(document), { lineWidth: 0, aliasDuplicateObjects: false })
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]))
}
