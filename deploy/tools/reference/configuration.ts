import { z } from 'zod'
import { configuration } from '../../../src/core/settings/schema.ts'
import { liveKeys } from '../../../src/core/settings/settings-change.ts'
import { duration, id } from '../../../src/core/settings/value-types.ts'
import { configurationRules } from './configuration-rules.ts'
import { code, generatedFrom, plain, table } from './markdown.ts'

interface Node {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly items?: Node
  readonly additionalProperties?: Node | boolean
  readonly anyOf?: readonly Node[]
}

const jsonSchema = (schema: z.ZodType): Node => z.toJSONSchema(schema, { io: 'input' }) as Node
const schema = jsonSchema(configuration)

/** The names of string formats, by their pattern. */
const forms = new Map([
  [jsonSchema(duration).pattern, 'duration'],
  [jsonSchema(id).pattern, 'id'],
])

const head = `# Configuration

Hookline reads one YAML (or JSON) file, which \`--config\` or \`HOOKLINE_CONFIG\` names. This page lists its keys. ${generatedFrom('the schema in `src/core/settings/schema.ts`')}

- \`deploy/local/hookline.yaml\` is a commented example. \`schemas/config.schema.json\` is the JSON Schema for editors: add \`# yaml-language-server: $schema=…\` as the first line.
- \`npx hookline check-config\` lists all errors with file, line, column, key and a hint. An unknown key is an error.
- **Live**: every process applies a change within five seconds. **Restart**: a process reads the value only at its start; it logs a change and keeps the old value until it restarts.
  If the file has an error, running processes refuse it and keep the previous configuration. If a file of [\`destinationsFrom\`](#destinationsfrom) has an error, only that file is excluded.
  With \`destinationsFrom\` and without \`operator.encryptionKeyFile\`, the keys \`audiences.list\`, \`canary\` and \`notices\` may name a destination that has no file. Hookline then treats that destination as paused: audience changes, canary messages, notices and retries wait for it until the file exists.
  With \`operator.encryptionKeyFile\`, these keys may name a destination that the operator API does not have yet. Until it exists, Hookline sends it no audience changes, makes no notices for it, and dead-letters canary messages for it after about two minutes.
- \`\${NAME}\` and \`\${NAME:-default}\` are replaced by environment variables, except in files of \`destinationsFrom\`. \`$\${\` is a literal \`\${\`. A list of strings may be one variable with comma-separated values.
- Every secret can be set directly or, with the suffix \`File\` on its key, as the path of a file. A line break at the end of the file is ignored. Paths are relative to the
  configuration file, or to the \`destinationsFrom\` file that names them. A change of the secret's file counts as a change of the configuration.
- A process reads only the files of secrets that its services need; the others may be missing (see the table below).
- \`KAFKA_BROKERS\` and \`SCHEMA_REGISTRY_URL\` in the environment override \`kafka.brokers\` and \`registry.url\`.
- A duration is a whole number with \`ms\`, \`s\`, \`m\` or \`h\`. An id is 1 to 63 letters, digits, \`.\`, \`_\` or \`-\`, starts with a letter or digit, and does not start with \`hookline.\`.

Each [service](glossary.md#kafka-and-processes) and each command reads these files of secrets:

| service or command | reads the files that these keys name |
|---|---|
| every service and every command | \`kafka\` and \`registry\` |
| every service | \`operator.encryptionKeyFile\` |
| the service \`collector\` | \`sources\` and \`collector\` |
| the service \`dispatcher\` | \`destinations\` and \`network\` |
| the service \`operator\` | \`destinations\`, \`network\` and \`operator\` |
| the commands \`check-config\` and \`doctor\` | those of the services in \`--services\` |
| the command \`send\` | those of the service \`collector\` |
| the command \`preview\` | those of the service \`dispatcher\` |
| the commands \`replay\`, \`delete-user\`, \`audience\` and \`produce\`, and \`tail\` with \`--destination\` or \`--source\` | \`operator.encryptionKeyFile\` |
`

/** Returns the text of `docs/reference/configuration.md`. */
export function configurationText(): string {
  const sections = Object.entries(schema.properties ?? {}).filter(([key]) => key !== '$schema')
  const rules = `## Rules across keys\nThese rules concern several values. An error names the key that violates the rule.\n\n${Object.values(
    configurationRules,
  )
    .map(rule => `- ${rule}`)
    .join('\n')}\n`
  return [head, ...sections.map(([key, node]) => sectionOf(key, node)), rules].join('\n')
}

function sectionOf(key: string, node: Node): string {
  const isRequired = schema.required?.includes(key) ?? false
  const rows = rowsOf(node, key, isRequired)
  const effect = isLive(key) ? 'Live.' : 'Restart.'
  // The description of a mapping is above the table, so the mapping needs no row there. The
  // description of any other key is only in its row.
  const isMapping = node.type === 'object'
  const said = isMapping ? [plain(node.description ?? ''), effect, ...(isRequired ? ['Required.'] : [])] : [effect]
  const shown = isMapping ? rows.slice(1) : rows
  return `## ${key}\n${said.join(' ')}\n\n${table(['key', 'type', 'default', 'description'], shown)}\n`
}

/**
 * Whether processes reload a key. They reload the files of `destinationsFrom` like `destinations`.
 */
const isLive = (key: string): boolean => key === 'destinationsFrom' || liveKeys.some(live => live === key)

function rowsOf(node: Node, path: string, isRequired: boolean): readonly (readonly string[])[] {
  const own = [code(path), typeOf(node), defaultOf(node, isRequired), plain(node.description ?? '')]
  const items = node.items ?? node.anyOf?.find(each => each.items !== undefined)?.items
  const inside = items?.properties === undefined ? node : items
  const prefix = inside === node ? path : `${path}[]`
  const members = Object.entries(inside.properties ?? {}).flatMap(([key, member]) =>
    rowsOf(member, `${prefix}.${key}`, inside.required?.includes(key) ?? false),
  )
  return [own, ...members]
}

function typeOf(node: Node): string {
  const { type, anyOf, items, pattern, additionalProperties } = node
  if (anyOf !== undefined) return anyOf.map(typeOf).join(', or ')
  if (node.enum !== undefined) return node.enum.map(code).join(', ')
  switch (type) {
    case 'array':
      return `list${bounds(node.minItems, node.maxItems)} of ${pluralOf(items ?? {})}`
    case 'object':
      return typeof additionalProperties === 'object' ? 'mapping of strings' : 'mapping'
    case 'integer':
      return `whole number${bounds(node.minimum, node.maximum)}`
    case 'number':
      return `number${bounds(node.minimum, node.maximum)}`
    case 'boolean':
      return '`true`, `false`'
    default:
      return forms.get(pattern) ?? 'text'
  }
}

/** Returns the plural of a type name. Lists of enum values and unions of types have no plural. */
const pluralOf = (node: Node): string =>
  (node.enum ?? node.anyOf) === undefined
    ? `${typeOf(node)}s`.replace(/\bwhole number(.*)s$/, 'whole numbers$1')
    : typeOf(node)

/**
 * Formats the bounds of a number or a list. zod represents a missing maximum by the largest safe
 * integer.
 */
function bounds(least = 0, most = Number.MAX_SAFE_INTEGER): string {
  if (most < Number.MAX_SAFE_INTEGER) return ` (${least} to ${most.toLocaleString('en-US')})`
  return least > 0 ? ` (at least ${least})` : ''
}

function defaultOf(node: Node, isRequired: boolean): string {
  if (isRequired) return 'required'
  const standard = node.default
  if (standard === undefined || (node.type === 'object' && node.properties !== undefined)) return ''
  return code(Array.isArray(standard) ? `[${standard.map(textOf).join(', ')}]` : textOf(standard))
}

/** Formats a default, which may be an object. */
function textOf(value: unknown): string {
  if (typeof value === 'object') return JSON.stringify(value)
  return String(value)
}
